"""What beat runs for this feature."""

import time
from collections.abc import Callable

from console.ecosystem.streams.tasks import look
from console.kit.live.idle_pace import is_any_page_open

LOOK_EVERY_S = 2.0
#: While nobody looks on; charts take a point every fifteen seconds.
REST_S = 6.0

BEAT_SCHEDULE = {
    "look-at-streams": {
        "task": look.name,
        "schedule": LOOK_EVERY_S,
    },
}


class PollSchedule:
    """Not thread-safe: one thread uses it."""

    def __init__(
        self, is_anybody_there: Callable[[], bool] = is_any_page_open, clock_s: Callable[[], float] = time.monotonic
    ):
        self._is_anybody_there = is_anybody_there
        self._clock_s = clock_s
        self._next_s = 0.0

    def is_due(self) -> bool:
        now_s = self._clock_s()
        if now_s < self._next_s and not self._is_anybody_there():
            return False
        self._next_s = now_s + REST_S
        return True


ONLY_IF = {"look-at-streams": PollSchedule().is_due}
