"""Time as an object that is passed in, so that tests can move it."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time for what is written down, monotonic time for every deadline; both in milliseconds."""

    def now_ms(self) -> int: ...

    def monotonic_ms(self) -> int: ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
