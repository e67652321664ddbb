"""fsyncs that topics ask for (flush.messages): on worker threads, one for all appends to a log that wait for it."""

import asyncio
from functools import partial

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.log.log import Log
from broker.runtime.disk.executor import DiskExecutor


class GroupFlushes:
    """For the broker's loop."""

    def __init__(self, disk: DiskExecutor):
        self._disk = disk
        #: Logs that are being flushed.
        self.under_way: dict[Log, asyncio.Future[None]] = {}
        #: Of logs that are being flushed: what was appended since then.
        self._next: dict[Log, asyncio.Future[None]] = {}

    def begin(self, partition: TopicPartition, log: Log) -> "asyncio.Future[None]":
        """Done when all that is in the log now is fsynced; raises ApiError as `Log.flush` if it cannot be.

        Several may wait for it, none may cancel it.
        """
        if log not in self.under_way:
            self.under_way[log] = done = _new_future()
            self._begin(partition, log)
            return done
        if log not in self._next:
            self._next[log] = _new_future()
        return self._next[log]

    async def ended(self, log: Log) -> None:
        """Returns when all that was asked for by now is done, perhaps nothing; raises as `begin`."""
        under_way = self._next.get(log) or self.under_way.get(log)
        if under_way is not None:
            await asyncio.shield(under_way)

    def _begin(self, partition: TopicPartition, log: Log) -> None:
        outcome = self._disk.submit(log.directory.parent, partition, log.flush)
        outcome.add_done_callback(partial(self._ended, partition, log))

    def _ended(self, partition: TopicPartition, log: Log, outcome: asyncio.Future) -> None:
        done, following = self.under_way.pop(log), self._next.pop(log, None)
        if following is not None:
            self.under_way[log] = following
            self._begin(partition, log)
        else:
            log.is_flush_due = False
        error = outcome.exception()
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(None)


def _new_future() -> "asyncio.Future[None]":
    future = asyncio.get_running_loop().create_future()
    # Whoever waits is told; that nobody does is no reason for a complaint of the loop's.
    future.add_done_callback(lambda done: done.exception())
    return future


def refusal_of(done: asyncio.Future) -> ApiError | None:
    """Why what was appended is not fsynced; raises what is no answer."""
    error = done.exception()
    if error is not None and not isinstance(error, ApiError):
        raise error
    return error
