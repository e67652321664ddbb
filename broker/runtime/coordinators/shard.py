"""One partition of an internal topic that this broker leads, and the coordinator that speaks for it."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, runtime_checkable

from broker.common.errors import ErrorCode
from broker.coordinator.outcome import Outcome
from broker.records.control import EndMarker, MarkerType
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


@runtime_checkable
class TransactionalCoordinator(Coordinator, Protocol):
    """A coordinator whose records may belong to transactions of producers, which markers in its partition end."""

    def replay(self, key: bytes, value: bytes | None, producer_id: int | None = None) -> None: ...

    def complete_transaction(self, producer_id: int, is_commit: bool) -> None: ...


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
    _is_transactional: bool = field(init=False)

    def __post_init__(self) -> None:
        self._is_transactional = isinstance(self.coordinator, TransactionalCoordinator)

    def replay(self, key: bytes, value: bytes | None, producer_id: int | None = None) -> None:
        """`producer_id`: whose transaction the record belongs to, None if to nobody's."""
        if producer_id is None:
            self.coordinator.replay(key, value)
        elif self._is_transactional:
            self.coordinator.replay(key, value, producer_id)

    def complete_transaction(self, producer_id: int, marker: EndMarker) -> None:
        if self._is_transactional:
            self.coordinator.complete_transaction(producer_id, marker.type is MarkerType.COMMIT)

    def wait_for_commit(self) -> None:
        """What comes from now on is answered when all that is in the log is committed."""
        if self.hosted.log.log_end_offset > self.hosted.partition.high_watermark:
            self.uncommitted.append((self.hosted.log.log_end_offset, Outcome()))

    @property
    def partition(self) -> int:
        return self.hosted.partition.topic_partition.partition

    @property
    def committed_after(self) -> int:
        """Where the high watermark must be for all that was done so far to be committed."""
        return self.uncommitted[-1][0] if self.uncommitted else 0
