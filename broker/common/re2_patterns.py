"""Regular expressions in RE2's syntax, matched by RE2 itself: in time linear in the text, whoever wrote the pattern."""

from functools import lru_cache
from typing import Any

import re2

#: Compiled patterns that are remembered.
_REMEMBERED = 32
#: Bytes that one pattern may take: its program, and the states in which texts have left it.
_MEMORY_MAX = 1 << 20


def compile_re2(pattern: str) -> Any:
    """Return the compiled pattern, to be used through `fullmatch`. Raises re2.error."""
    options = re2.Options()
    options.max_mem, options.log_errors = _MEMORY_MAX, False
    return re2.compile(pattern, options=options)


@lru_cache(_REMEMBERED)
def remembered_re2(pattern: str) -> Any:
    """Return the same as `compile_re2`, compiled once while it is in use. Raises re2.error."""
    return compile_re2(pattern)
