"""Subscriptions by a regular expression in the syntax of RE2."""

from collections.abc import Iterable
from functools import lru_cache

from broker.common.errors import ApiError, ErrorCode
from broker.common.re2.matcher import TopicPattern
from broker.common.re2.parser import Re2Error

#: Patterns whose matches are remembered: each a set of all topics.
_REMEMBERED = 32


def topics_matching(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names that the whole pattern matches. Raises ApiError INVALID_REGULAR_EXPRESSION."""
    try:
        return _compiled(pattern).matching(names)
    except Re2Error as error:
        message = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {error}."
        raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None


@lru_cache(_REMEMBERED)
def _compiled(pattern: str) -> TopicPattern:
    return TopicPattern(pattern)
