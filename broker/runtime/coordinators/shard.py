"""One partition of an internal topic that this broker leads, and the coordinator that speaks for it."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from broker.common.errors import ErrorCode
from broker.coordinator.group.outcome import Outcome
from broker.runtime.replication.replica_manager import HostedPartition


class Coordinator(Protocol):
    """What the runtime asks of any coordinator; `coordinator/group/coordinator.py` tells the whole contract."""

    def replay(self, key: bytes, value: bytes | None) -> None: ...

    def after_load(self, now_ms: int) -> Outcome: ...

    def next_deadline_ms(self) -> int | None: ...

    def tick(self, now_ms: int) -> Outcome: ...

    def abort(self, outcome: Outcome, error_code: ErrorCode) -> Outcome: ...

    def cancel(self, token: int) -> None: ...

    def unload(self) -> Outcome: ...


C = TypeVar("C", bound=Coordinator)


@dataclass(eq=False, slots=True)
class Shard(Generic[C]):
    """Lives as long as one unbroken leadership: its load, its timers and its answers end with it."""

    hosted: HostedPartition
    coordinator: C
    is_loaded: bool = False
    loading: asyncio.Task | None = None
    #: Outcomes that wait, in order: (offset the high watermark must reach, outcome).
    uncommitted: deque[tuple[int, Outcome]] = field(default_factory=deque)

    @property
    def partition(self) -> int:
        return self.hosted.partition.topic_partition.partition

    @property
    def committed_after(self) -> int:
        """Where the high watermark must be for all that was done so far to be committed."""
        return self.uncommitted[-1][0] if self.uncommitted else 0
