"""A wall clock that is not believed at once when it jumps ahead."""

import threading

from broker.common.clock import Clock
from broker.common.logs import logger

#: What a time server corrects from time to time without anything being wrong.
JUMP_MS = 60_000
#: How long a wall clock has to stay ahead before records are deleted by it: a wrong one is found out and set right
#: within that time, and a right one keeps them for an hour longer.
HELD_MS = 3_600_000

_log = logger(__name__)


class SteadyClock:
    """A wall clock for what is deleted by its age: records, tombstones, committed offsets. Times that are written down
    are those of the clock itself.

    A jump ahead counts only when the wall clock has stayed there for `HELD_MS`; until then time goes on as before it,
    by the monotonic clock. One that is set back is believed at once: by that nothing goes early. Of any thread.
    """

    def __init__(self, clock: Clock):
        self._clock = clock
        self._lock = threading.Lock()
        #: By how much the wall clock that counts is ahead of the monotonic one.
        self._ahead_ms = clock.now_ms() - clock.monotonic_ms()
        #: Of a jump that does not count yet: by how much, and since when.
        self._jump: tuple[int, int] | None = None

    def now_ms(self) -> int:
        with self._lock:
            monotonic_ms = self._clock.monotonic_ms()
            self._look(self._clock.now_ms() - monotonic_ms, monotonic_ms)
            return monotonic_ms + self._ahead_ms

    def monotonic_ms(self) -> int:
        return self._clock.monotonic_ms()

    def _look(self, ahead_ms: int, monotonic_ms: int) -> None:
        if ahead_ms - self._ahead_ms <= JUMP_MS:
            self._ahead_ms, self._jump = ahead_ms, None
        elif self._jump is None or abs(ahead_ms - self._jump[0]) > JUMP_MS:
            self._jump = ahead_ms, monotonic_ms
            self._warn("the wall clock jumped ahead: nothing is deleted by it for an hour; set it right if it is wrong")
        elif monotonic_ms - self._jump[1] >= HELD_MS:
            self._warn("the wall clock stayed ahead for an hour: what is too old by it is deleted now")
            self._ahead_ms, self._jump = ahead_ms, None

    def _warn(self, event: str) -> None:
        ahead_ms = self._clock.now_ms() - self._clock.monotonic_ms() - self._ahead_ms
        _log.warning(event, ahead_s=ahead_ms // 1000)
