"""One partition of an internal topic that this broker leads, and the coordinator that speaks for it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from broker.common.errors import ErrorCode
from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorResponse
from broker.coordinator.recorded_owners import Headers
from broker.records.control import EndMarker, MarkerType
from broker.runtime.coordinators.uncommitted import Uncommitted
from broker.runtime.replication.hosted_partition import HostedPartition

#: What the coordinators of a topic propose, an Outcome of their own kind.
Proposed = TypeVar("Proposed", bound=CoordinatorOutcome)


class ShardCoordinator(Protocol[Proposed]):
    """What the runtime asks of any coordinator; `coordinator/group/coordinator.py` tells the whole contract."""

    def replay(self, key: bytes, value: bytes | None, headers: Headers = ()) -> None: ...

    def written(self, end_offset: int) -> None: ...

    def committed(self, high_watermark: int) -> None: ...

    def after_load(self, now_ms: int) -> Proposed: ...

    def next_deadline_ms(self) -> int | None: ...

    def tick(self, now_ms: int) -> Proposed: ...

    def abort(self, outcome: Proposed, error_code: ErrorCode) -> Proposed: ...

    def recover(self) -> Proposed: ...

    def unconfirmed(self, answer: CoordinatorResponse, error_code: ErrorCode) -> CoordinatorResponse: ...

    def cancel(self, token: int) -> None: ...

    def unload(self) -> Proposed: ...


@runtime_checkable
class TransactionalCoordinator(Protocol):
    """A coordinator whose records may belong to transactions of producers, which markers in its partition end."""

    def replay(
        self, key: bytes, value: bytes | None, headers: Headers = (), producer_id: int | None = None
    ) -> None: ...

    def complete_transaction(self, producer_id: int, is_commit: bool) -> None: ...


C = TypeVar("C", bound=ShardCoordinator[Any])


@dataclass(eq=False, slots=True)
class Shard(Generic[C, Proposed]):
    """Lives as long as one unbroken leadership: its load, its timers and its answers end with it."""

    hosted: HostedPartition
    coordinator: C
    is_loaded: bool = False
    loading: asyncio.Task[None] | None = None
    #: Where the high watermark must be for all that was done so far to be committed.
    written_to: int = 0
    uncommitted: Uncommitted[Proposed] = field(default_factory=Uncommitted)
    #: Its timers are left alone until then, after one of them could not be dealt with.
    timers_wait_until_ms: int = 0
    #: The coordinator, if it is such a one.
    _transactional: TransactionalCoordinator | None = field(init=False)

    def __post_init__(self) -> None:
        self.start_over(self.coordinator)

    def start_over(self, coordinator: C) -> None:
        """Replace the coordinator by an empty one, after a load that failed."""
        self.coordinator = coordinator
        self._transactional = coordinator if isinstance(coordinator, TransactionalCoordinator) else None

    def replay(self, key: bytes, value: bytes | None, headers: Headers = (), producer_id: int | None = None) -> None:
        """Replay a record; `producer_id` is that of its transaction, None outside of one."""
        if producer_id is None:
            self.coordinator.replay(key, value, headers)
        elif self._transactional is not None:
            self._transactional.replay(key, value, headers, producer_id)

    def complete_transaction(self, producer_id: int, marker: EndMarker) -> None:
        if self._transactional is not None:
            self._transactional.complete_transaction(producer_id, marker.type is MarkerType.COMMIT)

    def note_written(self, end_offset: int) -> None:
        """Note that answers from now on wait until the log is committed up to `end_offset`, if they must wait
        at all.
        """
        self.written_to = end_offset
        self.coordinator.written(end_offset)
        self.coordinator.committed(self.hosted.partition.high_watermark)

    @property
    def is_all_committed(self) -> bool:
        return self.written_to <= self.hosted.partition.high_watermark

    @property
    def is_in_sync(self) -> bool:
        """Whether enough replicas are, for what they hold to be acknowledged."""
        return not self.hosted.partition.is_under_min_isr

    def next_timer_ms(self) -> int | None:
        deadline_ms = self.coordinator.next_deadline_ms()
        return None if deadline_ms is None else max(deadline_ms, self.timers_wait_until_ms)

    def next_deadline_ms(self) -> int | None:
        """Return the next deadline of its timers and pending answers."""
        timer_ms, answer_ms = self.next_timer_ms(), self.uncommitted.next_deadline_ms
        if timer_ms is None or answer_ms is None:
            return answer_ms if timer_ms is None else timer_ms
        return min(timer_ms, answer_ms)

    @property
    def partition(self) -> int:
        return self.hosted.partition.topic_partition.partition
