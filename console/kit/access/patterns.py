"""Names by pattern: `*` stands for any text and `?` for one character; capitals count. Pure."""

import re
from functools import cache, lru_cache


def matches(pattern: str, name: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


def matches_one(patterns: tuple[str, ...], name: str) -> bool:
    """Return whether `name` matches one of `patterns`, whatever its capitals; for names by the thousand."""
    return _compiled_all(patterns).search(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_written(pattern), re.DOTALL)


@lru_cache(256)
def regex_of(patterns: tuple[str, ...]) -> str:
    """Return the regular expression of what matches one of `patterns`, which there are; also a database's."""
    return f"^({'|'.join(_written(pattern) for pattern in patterns)})$"


@lru_cache(256)
def _compiled_all(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(regex_of(patterns), re.DOTALL | re.IGNORECASE)


def _written(pattern: str) -> str:
    parts = {"*": ".*", "?": "."}
    return "".join(parts.get(letter) or re.escape(letter) for letter in pattern)
