"""Simulated time: everything that is to happen, in order. Time stands still while something runs and then jumps.

Times are whole microseconds, so that sums of delays never round.
"""

import heapq
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulation.loop import Callback, HostLoop

#: Monotonic clocks do not begin at 0.
_START_US = 1_000_000_000
_WALL_CLOCK_AT_START_MS = 1_700_000_000_000


class Timeline:
    """What is planned at one moment happens in the order it was planned in, whoever planned it."""

    def __init__(self) -> None:
        self.now_us = _START_US
        self.steps = 0
        #: What is to happen later; and, as most things, now.
        self._planned: list[tuple[int, int, Callable[[], None] | Callback, HostLoop | None]] = []
        self.due: deque[tuple[Callable[[], None] | Callback, HostLoop | None]] = deque()
        self._count = 0

    @property
    def elapsed_us(self) -> int:
        return self.now_us - _START_US

    def plan(self, at_us: int, action: Callable[[], None]) -> None:
        """Have the world do something: what happens outside all processes, such as the arrival of bytes."""
        self._plan(at_us, action, None)

    def plan_in(self, delay_us: int, action: Callable[[], None]) -> None:
        self.plan(self.now_us + delay_us, action)

    def plan_callback(self, at_us: int, callback: "Callback", loop: "HostLoop") -> None:
        """Have a process run a callback of its loop."""
        self._plan(at_us, callback, loop)

    def call_now(self, callback: "Callback", loop: "HostLoop") -> None:
        """`plan_callback` for the present moment."""
        self.due.append((callback, loop))

    def _plan(self, at_us: int, action: "Callable[[], None] | Callback", loop: "HostLoop | None") -> None:
        if at_us <= self.now_us:
            self.due.append((action, loop))
        else:
            self._count += 1
            heapq.heappush(self._planned, (at_us, self._count, action, loop))

    def run(self, is_over: Callable[[], object], steps_max: int) -> None:
        """Until `is_over()`, or nothing is planned any more. RuntimeError after `steps_max` steps."""
        planned, due, heappop, popleft = self._planned, self.due, heapq.heappop, self.due.popleft
        while (planned or due) and not is_over():
            at_us = self.now_us
            if due and not (planned and planned[0][0] <= at_us):
                action, loop = popleft()
            else:
                at_us, _, action, loop = heappop(planned)
            if loop is None:
                self.now_us = at_us
                action()
            elif loop.takes(action):
                self.now_us = at_us
                loop.run(action)
            self.steps += 1
            if self.steps > steps_max:
                raise RuntimeError(f"the simulation does not come to rest: {steps_max} steps")


class SimulatedClock:
    """A machine's clock. Its wall clock may be ahead or behind, and jumps when `offset_ms` says something else."""

    def __init__(self, timeline: Timeline, offset_ms: Callable[[], int] = lambda: 0):
        self._timeline = timeline
        self._offset_ms = offset_ms

    def now_ms(self) -> int:
        return _WALL_CLOCK_AT_START_MS + self._timeline.elapsed_us // 1000 + self._offset_ms()

    def monotonic_ms(self) -> int:
        return self._timeline.now_us // 1000
