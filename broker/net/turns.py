"""Gives turns to connections that have more to do than fits into one wake-up.

The loop runs everything that is ready before it looks at the sockets again. Two hundred clients that each ask for
megabytes would thus keep everybody else waiting for a second, however short the turn of each. So they queue here, and
of one pass of the loop they get a slice of time together. What is done in coroutines, a slice of many things after the
other, queues here too: one slice in a pass.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

SLICE_S = 0.002
#: All that connections do in one pass before they have to queue. Two hundred that become readable at once would have a
#: slice each.
PASS_S = 0.02


class Turns:
    """One for all that a broker does for clients."""

    def __init__(self) -> None:
        self._queue: deque[Callable[[], None] | asyncio.Future[None]] = deque()
        self._is_scheduled = False
        #: When who has much to do queues in this pass of the loop; None before anybody began.
        self._pass_end: float | None = None

    def ask(self, work: Callable[[], None]) -> None:
        """Call `work` once, after earlier requests, in this pass of the loop or a later one."""
        self._queue.append(work)
        self._schedule()

    def mine(self) -> asyncio.Future[None]:
        """Return a future for the next turn: one slice of work runs in each pass of the loop."""
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._schedule()
        return turn

    def slice_end(self) -> float:
        """Return when a slice that begins now ends; 0 if this pass of the loop is used up."""
        now = monotonic()
        if self._pass_end is None:
            self._pass_end = now + PASS_S
            asyncio.get_running_loop().call_soon(self._next_pass)
        return now + SLICE_S if now < self._pass_end else 0.0

    def whole_slice_end(self) -> float:
        """Return when the slice of a work that just got its turn ends."""
        return monotonic() + SLICE_S

    def _next_pass(self) -> None:
        self._pass_end = None

    def is_over(self, slice_end: float) -> bool:
        return monotonic() > slice_end

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        self._is_scheduled = False
        queue = self._queue
        # The loop's own time stands still during a pass. Who is alone needs no end, and at rest nearly everybody is.
        end = self.slice_end() if len(queue) > 1 else 0.0
        for _ in range(len(queue)):
            work = queue.popleft()
            if isinstance(work, asyncio.Future):
                if not work.done():
                    work.set_result(None)  # whoever awaits it works in the next pass, before this is called again
                    break
                continue
            work()
            if monotonic() > end:
                break
        if queue:
            self._schedule()
