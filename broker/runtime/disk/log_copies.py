"""File work on copies of logs that are to lie in another directory: one piece at a time for each partition."""

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from broker.common.limits import CUT_WAIT_S_MAX
from broker.common.types import TopicPartition
from broker.runtime.disk.executor import DiskExecutor

T = TypeVar("T")


class LogCopies:
    """For the broker's loop. Threads of its own: nobody waits behind a copy."""

    def __init__(self) -> None:
        self._disk = DiskExecutor()
        self._under_way: dict[TopicPartition, asyncio.Future[Any]] = {}

    def begin(self, partition: TopicPartition, directory: Path, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Have `work` done, which writes to the log directory. Cancelling the future does not stop it."""
        done = self._under_way[partition] = self._disk.submit(directory, partition, work)
        done.add_done_callback(partial(self._ended, partition))
        return done

    def _ended(self, partition: TopicPartition, done: "asyncio.Future[Any]") -> None:
        if self._under_way.get(partition) is done:
            del self._under_way[partition]

    async def ended(self, partitions: Collection[TopicPartition]) -> set[TopicPartition]:
        """Returns when no thread is at a copy of these; those where one still is after CUT_WAIT_S_MAX: the disk hangs.

        For who has seen to it that nothing is begun for them meanwhile.
        """
        under_way = {each: self._under_way[each] for each in partitions if each in self._under_way}
        if under_way:
            await asyncio.wait(under_way.values(), timeout=CUT_WAIT_S_MAX)
        return {each for each, done in under_way.items() if not done.done()}

    async def idle(self) -> None:
        await self._disk.idle()
