"""Writes to the target at the same time: while one hand awaits what the target has taken, the others send.

A hand has connections of its own, and what it does it does on one thread; a lane belongs to one hand. With exactly_once
a lane's request holds one partition, so a task with one hand alone would leave the target idle while it reads the next.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from broker.client.cluster import ClusterConnections
from broker.client.coordinators import Coordinators
from broker.client.leaders import Leaders
from broker.common.types import TopicPartition
from broker.mirror.producer import BatchProducer
from broker.mirror.throttle_state import ThrottleState

#: So many suffice to keep a broker busy; each costs a connection to every broker of the target.
HANDS = 4
#: An answer that does not come in time is asked for again, unless the mirror is to end.
_COORDINATOR_S = 5.0
_WAIT_S, _SLOW_S = 1.0, 5.0
T = TypeVar("T")


class PoolWriter:
    def __init__(self, cluster: ClusterConnections, is_stopped: Callable[[], bool]):
        self.cluster, self._is_stopped = cluster, is_stopped
        self._leaders = Leaders(cluster)
        self._coordinators = Coordinators(cluster, timeout_s=_COORDINATOR_S)
        self._tired_of: set[TopicPartition] = set()
        self.patience = ThrottleState()

    def make_producer(self, transactional_id: str | None) -> BatchProducer:
        return BatchProducer(
            self._leaders, self._coordinators, self.cluster.ask_any, transactional_id, self._is_stopped, self._tired_of,
            self.patience,
        )  # fmt: skip


class WriterPool:
    """`connect` makes a Cluster, which `close` closes."""

    def __init__(self, connect: Callable[[], ClusterConnections], count: int, is_stopped: Callable[[], bool]):
        self._hands = [PoolWriter(connect(), is_stopped) for _ in range(max(1, min(count, HANDS)))]
        self._threads = ThreadPoolExecutor(len(self._hands), thread_name_prefix="mirror-writer")
        self._turn = 0
        self._busy_since: float | None = None

    def next(self) -> PoolWriter:
        """Return the next hand in turn, so that lanes are spread evenly."""
        self._turn += 1
        return self._hands[self._turn % len(self._hands)]

    @property
    def slowness(self) -> str | None:
        """Why the target is slower than the source; None if it is not."""
        if any(hand.patience.is_tried for hand in self._hands):
            return "a quota of the target slows the mirror down"
        if self._busy_since is not None and time.monotonic() - self._busy_since > _SLOW_S:
            return "the target is slow to answer"
        return None

    def do(
        self, jobs: Iterable[tuple[PoolWriter, Callable[[], T]]], on_wait: Callable[[], None] = lambda: None
    ) -> list[T]:
        """Do all jobs, each writer's in order, and return the results writer by writer. `on_wait`: about once a second.

        Each hand ends what it does, or fails; then the first failure is raised.
        """
        by_hand: dict[int, list[Callable[[], T]]] = {}
        for hand, job in jobs:
            by_hand.setdefault(id(hand), []).append(job)
        under_way = [self._threads.submit(_all, item) for item in by_hand.values()]
        self._busy_since = time.monotonic()
        while wait(under_way, timeout=_WAIT_S).not_done:
            on_wait()
        self._busy_since = None
        return [brought for event in under_way for brought in event.result()]

    def close(self) -> None:
        self._threads.shutdown()
        for hand in self._hands:
            hand.cluster.close()


def _all(jobs: Iterable[Callable[[], T]]) -> list[T]:
    return [job() for job in jobs]
