"""fsyncs that topics ask for (flush.messages): on worker threads, one for all appends to a log that wait for it."""

import asyncio
from functools import partial

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.log.log import Log
from broker.runtime.disk.executor import DiskExecutor


class GroupFlushes:
    """Used on the broker's loop only."""

    def __init__(self, disk: DiskExecutor):
        self._disk = disk
        #: Logs that are being flushed.
        self.under_way: dict[Log, asyncio.Future[None]] = {}
        #: Of logs that are being flushed: what was appended since then.
        self._next: dict[Log, asyncio.Future[None]] = {}
        #: Of `under_way`, those a thread has.
        self._running: set[Log] = set()
        self._held: set[Log] = set()

    def begin(self, partition: TopicPartition, log: Log) -> "asyncio.Future[None]":
        """Return a future for the fsync of everything now in the log; raises ApiError as `Log.flush`.

        Several may await it, none may cancel it.
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

    async def hold(self, log: Log) -> None:
        """Returns when the log is not being flushed, and is not again before `release`; who asks for it waits."""
        self._held.add(log)
        if log in self._running:
            await asyncio.wait([self.under_way[log]])

    def release(self, partition: TopicPartition, log: Log, successor: Log) -> None:
        """Fsync for requests on `log` made meanwhile in its `successor`: itself, or the log that has its records
        now.
        """
        self._held.discard(log)
        waiting = self.under_way.get(log)
        if waiting is None or log in self._running:
            return
        successor.is_flush_due = True
        for futures in (self.under_way, self._next):
            if log in futures:
                futures[successor] = futures.pop(log)
        self._begin(partition, successor)

    def _begin(self, partition: TopicPartition, log: Log) -> None:
        if log in self._held:
            return
        self._running.add(log)
        outcome = self._disk.submit(log.directory.parent, partition, log.flush)
        outcome.add_done_callback(partial(self._ended, partition, log))

    def _ended(self, partition: TopicPartition, log: Log, outcome: asyncio.Future[None]) -> None:
        self._running.discard(log)
        error = outcome.exception()
        done, following = self.under_way.pop(log), self._next.pop(log, None)
        if following is not None:
            self.under_way[log] = following
            self._begin(partition, log)
        elif error is None:
            log.is_flush_due = False
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(None)


def _new_future() -> "asyncio.Future[None]":
    future = asyncio.get_running_loop().create_future()
    # Whoever waits is told; that nobody does is no reason for a complaint of the loop's.
    future.add_done_callback(lambda done: done.exception())
    return future


def refusal_of(done: asyncio.Future[None]) -> ApiError | None:
    """Return the error if the fsync failed with an ApiError; raise other exceptions."""
    error = done.exception()
    if error is not None and not isinstance(error, ApiError):
        raise error
    return error
