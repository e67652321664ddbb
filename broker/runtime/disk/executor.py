"""Worker threads for file work: whatever may wait for a disk waits here, and the loop goes on.

Each log directory has threads of its own, so one whose disk hangs holds up nobody else's. What is asked for under one
key is done in the order it was asked for, one after the other; under different keys at the same time, as far as there
are threads. Nothing is said of who may touch what meanwhile: that is for who asks.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from broker.common.limits import CUT_WAIT_S_MAX, DISK_THREADS_PER_DIRECTORY
from broker.common.types import TopicPartition

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _WorkItem(Generic[T]):
    """Work, and the futures that wait for it."""

    key: Hashable
    work: Callable[[], T]
    done: "asyncio.Future[T]"
    #: Asked for later under the same key.
    behind: "deque[_WorkItem[Any]]" = field(default_factory=deque)


class DiskExecutor:
    """Runs work for the loop. `submit` and go on; the caller awaits the outcome if it needs it."""

    def __init__(self) -> None:
        self._lanes: dict[Path, _Lane] = {}

    def submit(self, directory: Path, key: Hashable, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Run `work` on a thread of the log directory; the future has its result or exception.

        Cancelling the future does not stop the work, nor let what is behind it overtake it.
        """
        lane = self._lanes.get(directory)
        if lane is None:
            lane = self._lanes[directory] = _Lane()
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        lane.take(_WorkItem(key, work, done))
        return done

    async def idle(self) -> None:
        """Returns when nothing is being done, or waits to be."""
        while under_way := [outcome for lane in self._lanes.values() for outcome in lane.under_way]:
            await asyncio.wait(under_way)
            # Who waited for it may have more to ask for.
            await asyncio.sleep(0)


class _Lane:
    """The threads of one log directory. Its pieces of work return values of all types, hence Any."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(DISK_THREADS_PER_DIRECTORY, thread_name_prefix="disk")
        self._ready: deque[_WorkItem[Any]] = deque()
        #: The first of each key, which is under way or ready.
        self._first: dict[Hashable, _WorkItem[Any]] = {}
        self.under_way: set[asyncio.Future[Any]] = set()

    def take(self, piece: _WorkItem[Any]) -> None:
        first = self._first.get(piece.key)
        if first is not None:
            first.behind.append(piece)
            return
        self._first[piece.key] = piece
        self._ready.append(piece)
        self._begin()

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        while self._ready and len(self.under_way) < DISK_THREADS_PER_DIRECTORY:
            piece = self._ready.popleft()
            outcome = loop.run_in_executor(self._pool, piece.work)
            self.under_way.add(outcome)
            outcome.add_done_callback(partial(self._ended, piece))

    def _ended(self, piece: _WorkItem[T], outcome: "asyncio.Future[T]") -> None:
        self.under_way.discard(outcome)
        if piece.behind:
            following = piece.behind.popleft()
            following.behind = piece.behind
            self._first[piece.key] = following
            self._ready.append(following)
        else:
            del self._first[piece.key]
        _settle(piece.done, outcome)
        self._begin()


def _settle(done: "asyncio.Future[T]", outcome: "asyncio.Future[T]") -> None:
    error = None if outcome.cancelled() else outcome.exception()
    if done.done():
        return
    if outcome.cancelled():
        done.cancel()
    elif error is not None:
        done.set_exception(error)
    else:
        done.set_result(outcome.result())


async def still_under_way(
    work: Mapping[TopicPartition, asyncio.Future[Any]], partitions: Collection[TopicPartition]
) -> set[TopicPartition]:
    """Return when no work on `partitions` is left; those with work left after CUT_WAIT_S_MAX, whose disk hangs."""
    waited_for = {partition: work[partition] for partition in partitions if partition in work}
    if waited_for:
        await asyncio.wait(waited_for.values(), timeout=CUT_WAIT_S_MAX)
    return {partition for partition, done in waited_for.items() if not done.done()}
