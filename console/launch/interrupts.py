"""Ctrl-C, SIGTERM and a closed terminal: the first asks to stop in order, the second to hurry."""

import signal

WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """Somebody asked to stop while something was awaited."""


class Interrupts:
    def __init__(self) -> None:
        self.count = 0

    def watch(self) -> None:
        for number in WATCHED:
            signal.signal(number, self._count)

    def _count(self, _number: int, _frame: object) -> None:
        self.count += 1

    @property
    def hurry(self) -> bool:
        return self.count > 1

    def check(self) -> None:
        """Raise Interrupted if somebody asked to stop."""
        if self.count:
            raise Interrupted
