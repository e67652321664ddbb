"""Which topics a sink's `topics.regex` names: a pattern of Java's, which the client library would read as another's.

Where the library knows no `\\d` it takes it for a letter, and a sink that runs would read nothing and say nothing.
"""

from collections.abc import Callable, Iterable

from broker.common.bounded_patterns import TooManyWays
from broker.common.logs import logger
from broker.connect.transforms.patterns import java_regex

_log = logger("broker.connect")
#: How long a topic that was just made may wait to be read.
REFRESH_S = 15.0
#: No pattern means the cluster's own, as with Kafka's consumer.
_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state"})


class MatchingTopics:
    """Caches which topics match, for one thread; an old result is read again on use."""

    def __init__(self, pattern: str, names: Callable[[], Iterable[str]], now_s: Callable[[], float]):
        """Raises ConfigError."""
        self._matches = java_regex("topics.regex", pattern).fullmatch
        self._names, self._now_s = names, now_s
        self._asked_s: float | None = None
        self._known: list[str] = []
        self._logged: set[str] = set()
        #: Whether the last list of names had none that matches.
        self.is_empty = False

    def changed(self) -> list[str] | None:
        """Return all matching topics if they changed; None otherwise.

        Raises what `names` raises, then waits as long again.
        """
        now = self._now_s()
        if self._asked_s is not None and now - self._asked_s < REFRESH_S:
            return None
        self._asked_s = now
        names = sorted(name for name in self._names() if name not in _INTERNAL and self._is_meant(name))
        self.is_empty = not names
        if names == self._known:
            return None
        self._known = names
        return names

    def _is_meant(self, name: str) -> bool:
        """Return whether the name matches; one that takes too long to match is left out, and holds up no other."""
        try:
            return self._matches(name) is not None
        except TooManyWays as error:
            if name not in self._logged:
                _log.warning("topic not read", topic=name, reason=str(error))
                self._logged.add(name)
            return False
