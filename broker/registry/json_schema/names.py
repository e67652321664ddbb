"""Which names of properties a pattern of a schema means: asked of a process of its own.

Patterns are a stranger's: one of ten letters can keep Python busy for years, and every thread with it. All that one
comparison asks has to be answered within seconds.
"""

import time

from broker.common.bounded_patterns import PatternProcess, TooManyWays
from broker.common.limits import REGISTRY_PATTERN_SECONDS_MAX
from broker.registry.errors import InvalidSchema


class Names:
    """Answers about names for one comparison; its process begins with the first question and ends with `close`."""

    def __init__(self, seconds: float = REGISTRY_PATTERN_SECONDS_MAX):
        self._seconds_left = seconds
        self._known: dict[tuple[str, str], bool] = {}
        self._process = PatternProcess()

    def close(self) -> None:
        self._process.close()

    def has(self, pattern: str, name: str) -> bool:
        """Return whether the pattern matches the name; an invalid one matches nothing. Raises InvalidSchema where all
        took too long.
        """
        if (pattern, name) not in self._known:
            begun = time.monotonic()
            try:
                self._known[pattern, name] = self._ask(pattern, name)
            finally:
                self._seconds_left -= time.monotonic() - begun
        return self._known[pattern, name]

    def _ask(self, pattern: str, name: str) -> bool:
        try:
            left = self._seconds_left
            return self._process.ask("search", pattern, name, left, wait_s=left) is not None
        except TooManyWays:
            raise InvalidSchema("comparing it takes too long: a pattern has too many ways to match") from None
