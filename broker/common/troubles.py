"""What is wrong with each of many things, said once: what is tried again and again fails again and again."""

from collections.abc import Hashable
from typing import NamedTuple


class _Trouble(NamedTuple):
    reason: str
    since_ms: int
    is_told: bool


class Troubles:
    """Which failures are news: the first of a thing, and one for another reason, until `is_over` says all is well."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Trouble] = {}

    def __len__(self) -> int:
        return len(self._known)

    def is_news(self, thing: Hashable, reason: str, now_ms: int, patience_ms: int = 0) -> bool:
        """Return whether this failure of `thing` should be told: once, when it has gone on for `patience_ms`."""
        known = self._known.get(thing)
        if known is None or known.reason != reason:
            known = _Trouble(reason, now_ms, is_told=False)
        is_news = not known.is_told and now_ms - known.since_ms >= patience_ms
        self._known[thing] = known._replace(is_told=known.is_told or is_news)
        return is_news

    def is_over(self, thing: Hashable) -> None:
        self._known.pop(thing, None)
