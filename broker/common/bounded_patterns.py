"""Patterns that cannot stop who matches them: Python tries every way a pattern may match, and one of ten letters can
have more than there are years. Who chose the name can be a stranger to who chose the pattern, or the other way round.

Patterns and names with few ways are matched on the spot; all else is asked of a process that gives up.
"""

import contextlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from broker.common import pattern_matching
from broker.common.errors import BarnabasError
from broker.common.limits import PATTERN_ANSWERS_MAX, PATTERN_SECONDS_MAX
from broker.common.readable import readable

#: A process that answers so late does not live; one that works has its own, much shorter time.
_ANSWER_S = 30.0
#: Milliseconds, if all are tried.
_WAYS_MAX = 100_000
_LENGTH_MAX = 249
_NO_SYNTAX = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_QUANTIFIER = re.compile(r"(?<!\()[*+?{]")
#: Groups that are repeated, or whose syntax could hide that: comments, flags.
_MANY_WAYS = re.compile(r"\)[*+{]|\(\?(?![:=!<P])")
_BRACED = re.compile(r"\{[^}]*\}")

#: What the whole and each group matched.
Groups = Sequence[str | None]


class TooManyWays(BarnabasError):
    """Whether a pattern matches cannot be said in time."""


class PatternProcess:
    """Begins with the first question and ends with `close`, or with the process that asked. For many threads."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._asking = threading.Lock()

    def ask(
        self, how: str, pattern: str, text: str, seconds: float, flags: int = 0, wait_s: float = _ANSWER_S
    ) -> Groups | None:
        """Search in another process. `how`: search, match or fullmatch. Raises TooManyWays after `seconds` of processor
        time, or of waiting.
        """
        with self._asking:
            answer = self._answer(json.dumps([how, pattern, flags, text, seconds]).encode() + b"\n", wait_s)
        if not answer or (document := json.loads(answer)) == pattern_matching.SLOW:
            raise TooManyWays(f"{pattern[:100]!r} has too many ways to match {text[:100]!r}")
        groups: Groups | None = document
        return groups

    def _answer(self, question: bytes, wait_s: float) -> bytes:
        """Ask the process; nothing if it has died, or is late."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            # The file and nothing else of ours: it needs no package, and begins in a quarter of the time.
            command = [sys.executable, "-I", "-S", str(Path(pattern_matching.__file__))]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stdin, answers = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert answers is not None
        with contextlib.suppress(BrokenPipeError):
            stdin.write(question)
            stdin.flush()
        answer = answers.readline() if readable(answers.fileno(), wait_s) else b""
        if not answer:
            self._end()
        return answer

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def close(self) -> None:
        with self._asking:
            self._end()


_shared = PatternProcess()


class BoundedPattern:
    """Matches whole names, and any number of times the same ones: answers are kept."""

    def __init__(self, pattern: re.Pattern[str], written: str | None = None):
        """`written` is the pattern before it was translated: its ways are counted."""
        self._regex = pattern
        self.pattern, self.groups, self.groupindex = pattern.pattern, pattern.groups, pattern.groupindex
        self._has_few_ways = has_few_ways(pattern.pattern if written is None else written)
        self._known: dict[tuple[str, str], Groups | TooManyWays | None] = {}

    def fullmatch(self, name: str) -> Groups | None:
        """Raises TooManyWays."""
        return self._matched("fullmatch", name)

    def match(self, name: str) -> Groups | None:
        """Match the pattern at the beginning of the name. Raises TooManyWays."""
        return self._matched("match", name)

    def _matched(self, how: str, name: str) -> Groups | None:
        if self._has_few_ways and len(name) <= _LENGTH_MAX:
            match = self._regex.fullmatch(name) if how == "fullmatch" else self._regex.match(name)
            return (match.group(), *match.groups()) if match else None
        if (how, name) not in self._known:
            if len(self._known) >= PATTERN_ANSWERS_MAX:
                self._known.clear()
            self._known[how, name] = self._match(how, name)
        known = self._known[how, name]
        if isinstance(known, TooManyWays):
            raise TooManyWays(str(known))
        return known

    def _match(self, how: str, name: str) -> Groups | TooManyWays | None:
        try:
            return _shared.ask(how, self.pattern, name, PATTERN_SECONDS_MAX, self._regex.flags & re.ASCII)
        except TooManyWays as error:
            return error


def has_few_ways(pattern: str) -> bool:
    """Return whether that is plain to see: each quantifier may stop at each letter, each group take each
    alternative.
    """
    bare = _NO_SYNTAX.sub("x", pattern)
    if _MANY_WAYS.search(bare):
        return False
    quantifiers = len(_QUANTIFIER.findall(_BRACED.sub("{", bare)))
    ways = (_LENGTH_MAX + 1) ** min(quantifiers, 9) * (bare.count("|") + 1) ** min(bare.count("(") + 1, 99)
    return bool(ways <= _WAYS_MAX)
