"""Which names of properties a pattern of a schema means: asked of a process of its own.

Patterns are a stranger's: one of ten letters can keep Python busy for years, and every thread with it. All that one
comparison asks has to be answered within seconds.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from broker.common.limits import REGISTRY_PATTERN_SECONDS_MAX
from broker.common.readable import readable
from broker.registry.errors import InvalidSchema
from broker.registry.json_schema import matching


class Names:
    """Of one comparison; its process begins with the first question and ends with `close`."""

    def __init__(self, seconds: float = REGISTRY_PATTERN_SECONDS_MAX):
        self._seconds_left = seconds
        self._known: dict[tuple[str, str], bool] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def has(self, pattern: str, name: str) -> bool:
        """A pattern that cannot be read means no name. Raises InvalidSchema where all took longer than they may."""
        if (pattern, name) not in self._known:
            begun = time.monotonic()
            try:
                self._known[pattern, name] = self._ask(pattern, name)
            finally:
                self._seconds_left -= time.monotonic() - begun
        return self._known[pattern, name]

    def _ask(self, pattern: str, name: str) -> bool:
        if self._process is None:
            self._process = _started()
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        with contextlib.suppress(BrokenPipeError):
            asked.write(json.dumps([pattern, name]).encode() + b"\n")
            asked.flush()
        answer = os.read(answers.fileno(), 1) if readable(answers.fileno(), self._seconds_left) else b""
        if not answer:
            self.close()
            raise InvalidSchema("comparing it takes too long: a pattern has too many ways to match")
        return answer == matching.YES


def _started() -> subprocess.Popen[bytes]:
    """The file and nothing else of ours: it needs no package, and begins in a quarter of the time."""
    command = [sys.executable, "-I", "-S", str(Path(matching.__file__))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
