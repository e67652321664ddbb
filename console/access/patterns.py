"""Names by pattern: `*` stands for any text and `?` for one character; capitals count. Pure."""

import re
from functools import cache


def matches(pattern: str, name: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(letter) or re.escape(letter) for letter in pattern), re.DOTALL)
