"""Subscriptions by a regular expression in the syntax of RE2."""

from collections.abc import Iterable

from broker.common.errors import ApiError, ErrorCode


def topics_matching(pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names that the whole pattern matches. Raises ApiError INVALID_REGULAR_EXPRESSION."""
    raise ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION)
