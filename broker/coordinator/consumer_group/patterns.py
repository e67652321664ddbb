"""Subscriptions by a regular expression in the syntax of RE2, matched by RE2 itself: in time linear in each name."""

from collections.abc import Iterable
from functools import lru_cache

import re2

from broker.common.errors import ApiError, ErrorCode
from broker.common.re2_patterns import compile_re2

#: Patterns whose matches are remembered: each a set of all topics.
_REMEMBERED = 32


def topics_matching(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names that the whole pattern matches. Raises ApiError INVALID_REGULAR_EXPRESSION."""
    try:
        return _remembered(pattern).matching(names)
    except re2.error as error:
        (reason,) = error.args
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        message = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {reason}."
        raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None


class _TopicPattern:
    """A pattern, and which names it is known to match. Raises re2.error if it is none of RE2's."""

    def __init__(self, pattern: str):
        self._compiled = compile_re2(pattern)
        self._known: set[str] = set()
        self._matched: set[str] = set()

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of the names that match. Names that were asked for before cost nothing."""
        wanted = set(names)
        self._known &= wanted
        self._matched &= wanted
        self._matched.update(name for name in wanted - self._known if self._compiled.fullmatch(name))
        self._known = wanted
        return frozenset(self._matched)


@lru_cache(_REMEMBERED)
def _remembered(pattern: str) -> _TopicPattern:
    return _TopicPattern(pattern)
