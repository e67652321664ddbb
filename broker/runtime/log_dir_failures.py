"""A log directory has failed: its partitions are given up here and the controller is told, or, when it was the last,
the broker gives up.

The log manager reports on whatever thread met the error. What lay in the directory the controller finds out by itself;
so it does of a directory that is full, or has room again (`announce`).
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from broker.common.logs import logger
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_TRY_AGAIN_S = 1.0


class LogDirFailures:
    """`report` is for `LogManager.on_directory_failed`; `was_last` is set when nothing is left to serve from."""

    def __init__(self, store: ClusterStore, broker_id: int, was_last: asyncio.Event):
        self._store = store
        self._broker_id = broker_id
        self._was_last = was_last
        self._loop = asyncio.get_running_loop()
        self._settle_callback: set[asyncio.Task[None]] = set()
        #: Called on the loop for each failure, before anybody is told.
        self.on_failed: Callable[[], None] = lambda: None

    def report(self, _path: Path, was_last: bool) -> None:
        """Note a failure. Safe to call from any thread."""
        self._loop.call_soon_threadsafe(self._hear, was_last)

    def stop(self) -> None:
        for task in self._settle_callback:
            task.cancel()

    def _hear(self, was_last: bool) -> None:
        try:
            self.on_failed()
        except Exception:  # the controller is told all the same
            _log.exception("partitions not given up")
        if was_last:
            self._was_last.set()
            return
        self.announce()

    def announce(self) -> None:
        """Have the controller ask which roles this broker can take, and which directories are full."""
        task = self._loop.create_task(self._notify())
        self._settle_callback.add(task)
        task.add_done_callback(self._settle_callback.discard)

    async def _notify(self) -> None:
        """Notify ZooKeeper, repeated until it has it; twice does no harm."""
        while True:
            try:
                await self._store.announce_log_dir_failure(self._broker_id)
                _log.info("controller notified of a log directory")
                return
            except (ConnectionInterrupted, SessionLost):
                await self._store.session.wait_connected()
            except Exception:
                _log.exception("controller not notified of a log directory yet")
                await asyncio.sleep(_TRY_AGAIN_S)
