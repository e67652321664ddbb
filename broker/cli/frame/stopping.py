"""Ctrl-C and SIGTERM for commands that finish their line, and tell a total, before they end."""

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from broker.cli.frame.running import Terminated

#: How long the command may take for what it has begun: who reads its output may have ceased to.
_GRACE_S = 5.0
#: `timeout` tells a process and then its group: that is one signal.
_ONE_SIGNAL_S = 0.5


class Stopping:
    """Inside of the block a first signal only says that it came; a second one, or time, ends what is under way.

    In a `with` block on the main thread.
    """

    def __init__(self) -> None:
        self._signal = 0
        self._asked_at = 0.0
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> "Stopping":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        if self._signal:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def is_requested(self) -> bool:
        return bool(self._signal)

    @property
    def status(self) -> int:
        """The exit status: 130 or 143 after a signal, else 0."""
        return 128 + self._signal if self._signal else 0

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._signal:
            if now - self._asked_at >= _ONE_SIGNAL_S:
                self._end()
            return
        self._signal, self._asked_at = number, now
        self._before.setdefault(signal.SIGALRM, signal.signal(signal.SIGALRM, lambda *_: self._end()))
        signal.setitimer(signal.ITIMER_REAL, _GRACE_S)

    def _end(self) -> None:
        raise KeyboardInterrupt if self._signal == signal.SIGINT else Terminated
