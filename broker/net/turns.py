"""Who goes on next, when connections have more to do than fits into one wake-up.

The loop runs everything that is ready before it looks at the sockets again. Two hundred clients that each ask for
megabytes would thus keep everybody else waiting for a second, however short the turn of each. So they queue here, and
of one pass of the loop they get a slice of time together.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

SLICE_S = 0.002


class Turns:
    """One for all connections of a listener."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop
        self._queue: deque[Callable[[], None]] = deque()
        self._is_scheduled = False

    def ask(self, work: Callable[[], None]) -> None:
        """`work` is called once, after what was asked for before, in this pass of the loop or a later one."""
        self._queue.append(work)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        end = monotonic() + SLICE_S  # the loop's own time stands still during a pass
        self._is_scheduled = False
        queue = self._queue
        for _ in range(len(queue)):
            queue.popleft()()
            if monotonic() > end:
                break
        if queue and not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._run)
