"""Ctrl-C, SIGTERM and a closed terminal: the first asks to stop in order, the second to hurry.

They, and a child's death, end a pause: whoever looks after children need not look often.
"""

import os
import signal
import time
from contextlib import suppress

from broker.common.readable import readable

WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """Somebody asked to stop while something was awaited."""


class Interrupts:
    def __init__(self, count: int = 0) -> None:
        """`count`: what the program that this process ran before was asked already."""
        self.count = count
        self._woken: int | None = None

    def watch(self) -> None:
        self._woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in WATCHED:
            signal.signal(number, self._count)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)  # see `become`

    def pause(self, seconds: float) -> None:
        """Wait for a signal, at most `seconds`; return at once if one came since the last pause."""
        if self._woken is None:
            time.sleep(seconds)
        elif readable(self._woken, seconds):
            with suppress(BlockingIOError):
                while os.read(self._woken, 512):
                    pass

    def _count(self, _number: int, _frame: object) -> None:
        self.count += 1

    @property
    def hurry(self) -> bool:
        return self.count > 1

    def check(self) -> None:
        """Raise Interrupted if somebody asked to stop."""
        if self.count:
            raise Interrupted
