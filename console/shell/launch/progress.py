"""What the person at the terminal reads: one line per thing that became ready, with the time it took."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from django.core.management.base import BaseCommand

SUBJECT_WIDTH = 26
DETAIL_WIDTH = 44

_GREEN, _RED, _GREY, _BOLD, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[90m", "\x1b[1m", "\x1b[0m"
_ERASE_LINE = "\r\x1b[2K"


class StepOutcome:
    """What a block of `LaunchProgress.doing` has to say when it ends."""

    def __init__(self) -> None:
        self.detail = ""
        self.failed = False

    def fail(self, sentence: str) -> None:
        self.failed, self.detail = True, sentence


def progress_of(command: BaseCommand) -> "LaunchProgress":
    """Return what writes to the stream that `command` was given, which Django wraps to end each text with a line."""
    return LaunchProgress(command.stdout._out)  # type: ignore[arg-type]  # its type takes any attribute for a function


class LaunchProgress:
    """Colours and a line for what is under way only on a terminal; a file or a pipe gets finished lines."""

    def __init__(self, stream: TextIO = sys.stdout, clock: Callable[[], float] = time.monotonic):
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()

    def now(self) -> float:
        return self._clock()

    @contextmanager
    def doing(self, subject: str, under_way: str = "starting", since: float | None = None) -> Iterator[StepOutcome]:
        """Print the outcome of the block and how long it took, counted from `since` if that was earlier."""
        started, outcome = since or self.now(), StepOutcome()
        self._pending(f"  {subject:<{SUBJECT_WIDTH}} {under_way} …")
        try:
            yield outcome
        except BaseException:
            self._pending("")
            raise
        self.done(subject, outcome.detail, self.now() - started, outcome.failed)

    def done(self, subject: str, detail: str, seconds: float | None = None, failed: bool = False) -> None:
        mark, colour = ("✗", _RED) if failed else ("✓", _GREEN)
        took = "" if seconds is None else self._in(_GREY, f"{seconds:5.1f} s")
        self._line(f"{self._in(colour, mark)} {subject:<{SUBJECT_WIDTH}} {detail:<{DETAIL_WIDTH}} {took}")

    def note(self, sentence: str) -> None:
        self._line(f"  {sentence}")

    def fact(self, name: str, value: str) -> None:
        self._line(f"  {name:<{SUBJECT_WIDTH}} {self._in(_BOLD, value)}")

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._is_terminal else text

    def _pending(self, text: str) -> None:
        if self._is_terminal:
            self._write(_ERASE_LINE + text)

    def _line(self, text: str) -> None:
        self._write((_ERASE_LINE if self._is_terminal else "") + text.rstrip() + "\n")

    def _write(self, text: str) -> None:
        """Write to the terminal; one that was closed, or a pipe without a reader, must not stop the shutdown."""
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()
