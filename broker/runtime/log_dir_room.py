"""Watches log directories that are full: the controller is told when one fills up and when it has room again, so that
what this broker leads there is led by an in-sync replica with room meanwhile.

The controller asks by repeating the broker's roles, and the answers say which of them are in a directory that is full.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from broker.common.clock import Clock
from broker.common.logs import logger
from broker.log.manager import LogManager
from broker.log.room import DirectorySpace, look
from broker.runtime.disk.executor import DiskExecutor

_log = logger(__name__)

#: Between two looks at a directory that is full.
_LOOK_S = 1.0


class LogDirRoom:
    """Tracks full log directories."""

    def __init__(self, logs: LogManager, clock: Clock, announce: Callable[[], None]):
        self._logs = logs
        self._clock = clock
        self._announce = announce
        self._disk = DiskExecutor()
        self._watches: dict[Path, asyncio.Task[None]] = {}
        self.on_writable: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Look at each directory once, since a broker may start on a disk that is full, and listen from now on."""
        loop = asyncio.get_running_loop()
        self._logs.on_directory_full = lambda path: loop.call_soon_threadsafe(self._refused, path)
        self._watches = {path: loop.create_task(self._first_look(path)) for path in self._logs.rooms}

    async def stop(self) -> None:
        self._logs.on_directory_full = lambda path: None
        for watch in self._watches.values():
            watch.cancel()
        await asyncio.gather(*self._watches.values(), return_exceptions=True)
        await self._disk.idle()

    def moved(self) -> None:
        """Announce that a log changed its directory: the controller's list of full directories has changed, and waiting
        replicas look again.
        """
        self.on_writable()
        if any(room.is_full for room in self._logs.rooms.values()):
            self._announce()

    async def _first_look(self, path: Path) -> None:
        room = await self._look(path)
        if room is not None and not room.takes_writes:
            self._refused(path)
        await self._watch(path)

    def _refused(self, path: Path) -> None:
        room = self._logs.rooms.get(path)
        if room is None or not room.refused(self._clock.monotonic_ms()):
            return
        _log.error(
            "log directory full: what it leads goes to in-sync replicas with room; free some of the disk",
            path=str(path),
        )
        self._announce()
        watch = self._watches.get(path)
        if watch is None or watch.done():
            self._watches[path] = asyncio.get_running_loop().create_task(self._watch(path))

    async def _watch(self, path: Path) -> None:
        """Look at a full directory until it has room again, or has failed."""
        while (room := self._logs.rooms.get(path)) is not None and room.is_full:
            await asyncio.sleep(_LOOK_S)
            room_now = await self._look(path)
            if room_now is None:
                continue
            refused_writes = room.refuses_writes
            if room.looked(room_now, self._clock.monotonic_ms()):
                _log.info("log directory has room again", path=str(path), free_bytes=room_now.free_bytes)
                self._announce()
            if refused_writes and not room.refuses_writes:
                _log.info(
                    "log directory takes writes again, and counts as full until more is free for a while",
                    path=str(path),
                    free_bytes=room_now.free_bytes,
                    wanted_bytes=room_now.wanted_bytes,
                    for_ms=room.steady_ms,
                )
                self.on_writable()

    async def _look(self, path: Path) -> DirectorySpace | None:
        """Return the directory's space; None where it cannot be read: its next user meets the fault and reports it."""
        try:
            return await self._disk.submit(path, path, partial(look, path))
        except OSError as error:
            _log.warning("log directory not measured", path=str(path), reason=str(error))
            return None
