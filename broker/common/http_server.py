"""uvicorn's server, which looks ten times a second whether it is to end: this one is told.

What else it does at each of its looks, the date of its answers among it, is done once a second as before.
"""

import asyncio

from broker.common.plain_uvicorn import uvicorn

TICK_S = 1.0
#: uvicorn counts tenths of a second, and makes the date anew at every tenth of them.
_TENTHS_OF_A_TICK = 10


class RestingServer(uvicorn.Server):
    """`should_exit` may be set by any thread, and by a signal's handler."""

    _is_told = False
    _loop: asyncio.AbstractEventLoop | None = None

    @property
    def should_exit(self) -> bool:
        return self._is_told

    @should_exit.setter
    def should_exit(self, is_told: bool) -> None:
        self._is_told = is_told
        if is_told and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._told.set)

    async def main_loop(self) -> None:
        self._told = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(_TENTHS_OF_A_TICK):
            try:
                await asyncio.wait_for(self._told.wait(), TICK_S)
            except TimeoutError:
                continue
