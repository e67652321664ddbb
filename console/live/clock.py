"""Wall time in milliseconds, as every stored moment of the console is kept."""

import time


def now_ms() -> int:
    return time.time_ns() // 1_000_000
