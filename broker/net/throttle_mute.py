"""For how long nothing of a connection is read, because its client has taken more than its quota allows (KIP-219).

Who is not read is not heard to leave either, so that is looked for now and then: a wait may be of hours.
"""

import asyncio
import select
from collections.abc import Callable

from broker.common.limits import MUTED_LOOK_S


class Mute:
    """From `last` on; `on_over` is called when it ends by itself, `on_hung_up` if the peer has closed before."""

    __slots__ = ("_fd", "_loop", "_on_hung_up", "_on_over", "_timer", "_until")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, fd: int, on_over: Callable[[], None], on_hung_up: Callable[[str], None]
    ):
        self._loop = loop
        self._fd = fd
        self._on_over = on_over
        self._on_hung_up = on_hung_up
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def last(self, ms: int) -> None:
        """Mute for `ms` from now on; of several ends the latest applies."""
        self._until = max(self._until, self._loop.time() + ms / 1000)
        self._look_again()

    def cancel(self) -> None:
        """Cancel the mute without a callback."""
        if self._timer is not None:
            self._timer.cancel()

    def _look_again(self) -> None:
        self.cancel()
        left_s = self._until - self._loop.time()
        self._timer = self._loop.call_later(min(left_s, MUTED_LOOK_S), self._look)

    def _look(self) -> None:
        if self._until <= self._loop.time():
            self._on_over()
        elif _has_hung_up(self._fd):
            self._on_hung_up("closed while it was muted")
        else:
            self._look_again()


def _has_hung_up(fd: int) -> bool:
    """Return whether the peer has closed, also behind what it sent before and nobody has read."""
    poll = select.poll()
    poll.register(fd, select.POLLRDHUP)
    return bool(poll.poll(0))
