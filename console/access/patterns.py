"""Names by pattern: `*` stands for any text and `?` for one character; capitals count. Pure."""

import re
from functools import cache, lru_cache


def matches(pattern: str, name: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


def matches_any(patterns: tuple[str, ...], name: str) -> bool:
    """As `matches` with one after the other, for names that are asked about by the thousand."""
    return _compiled_all(patterns).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_written(pattern), re.DOTALL)


@lru_cache(256)
def _compiled_all(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Without a pattern nothing matches."""
    return re.compile("|".join(f"(?:{_written(each)})" for each in patterns) or r"(?!)", re.DOTALL)


def _written(pattern: str) -> str:
    parts = {"*": ".*", "?": "."}
    return "".join(parts.get(letter) or re.escape(letter) for letter in pattern)
