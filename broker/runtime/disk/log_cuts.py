"""Cuts followers' logs on worker threads: thousands at once, when a leader is elected whose log is shorter.

A log that is to be cut is lent (`Log.lend`) and serves nobody until it is given back; its partition takes no role
meanwhile. What is noted beside all logs of a directory is lowered once for all cuts that wait, then each is cut.
"""

import asyncio
from collections.abc import Collection
from functools import partial
from pathlib import Path

from broker.common.types import TopicPartition
from broker.log.log import Log
from broker.log.manager import LogManager
from broker.log.truncation import Truncation
from broker.runtime.disk.executor import DiskExecutor, still_under_way


class LogCuts:
    """Used on the broker's loop only."""

    def __init__(self, logs: LogManager, disk: DiskExecutor):
        self._logs = logs
        self._disk = disk
        self._under_way: dict[TopicPartition, asyncio.Future[None]] = {}
        #: By log directory: not yet noted.
        self._waiting: dict[Path, dict[TopicPartition, tuple[Log, Truncation]]] = {}

    def begin(self, partition: TopicPartition, log: Log, cut: Truncation) -> "asyncio.Future[None]":
        """Truncate the log on a worker thread.

        The future raises what `Log.cut` raises. Raises ApiError if nothing has begun.
        """
        log.lend()
        done = asyncio.get_running_loop().create_future()
        self._under_way[partition] = done
        directory = log.directory.parent
        if directory not in self._waiting:
            self._waiting[directory] = {}
            asyncio.get_running_loop().call_soon(self._note, directory)
        self._waiting[directory][partition] = log, cut
        return done

    async def ended(self, partitions: Collection[TopicPartition]) -> set[TopicPartition]:
        """Returns when none of these is being cut; those that still are after CUT_WAIT_S_MAX, whose disk hangs."""
        return await still_under_way(self._under_way, partitions)

    def _note(self, directory: Path) -> None:
        """Lower what is noted of the logs that wait to be truncated; later requests are for the next round."""
        cuts = self._waiting[directory]
        self._waiting[directory] = {}
        by_partition = {partition: cut for partition, (_, cut) in cuts.items()}
        noted = self._disk.submit(directory, self, partial(self._logs.note_truncations, by_partition))
        noted.add_done_callback(lambda _: self._cut(directory, cuts))

    def _cut(self, directory: Path, cuts: dict[TopicPartition, tuple[Log, Truncation]]) -> None:
        for partition, (log, cut) in cuts.items():
            ended = self._disk.submit(directory, partition, partial(self._logs.cut, partition, log, cut))
            ended.add_done_callback(partial(self._ended, partition, log))
        if self._waiting[directory]:
            self._note(directory)
        else:
            del self._waiting[directory]

    def _ended(self, partition: TopicPartition, log: Log, outcome: asyncio.Future[None]) -> None:
        log.take_back()
        done = self._under_way.pop(partition)
        error = outcome.exception()
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(None)
