"""Java's patterns of a configuration: regular expressions, replacements and SimpleDateFormat."""

import re
import time
from collections.abc import Callable

from broker.common.bounded_patterns import BoundedPattern, Groups
from broker.common.java.dates import DateFormat
from broker.common.java.patterns import compile_pattern
from broker.connect.api import ConfigError

#: What a topic's name or a pattern may take: a pattern is tried once for each record.
PATTERN_LENGTH_MAX = 1_000


def java_regex(name: str, pattern: str) -> BoundedPattern:
    """A Java pattern. ConfigError names the key if it is none, or has no equal here.

    What it is matched with can be a stranger's, as names of topics are: it gives up where that would take long.
    """
    _check_length(name, pattern, "pattern")
    try:
        return BoundedPattern(compile_pattern(pattern), pattern)
    except ValueError as error:
        raise ConfigError(name, f"Invalid value {pattern} for configuration {name}: Invalid regex: {error}") from None


def date_format(name: str, pattern: str) -> DateFormat:
    """A SimpleDateFormat in UTC. ConfigError names the key if it is none."""
    _check_length(name, pattern, "format")
    try:
        return DateFormat(pattern, time.time_ns() // 1_000_000)
    except ValueError as error:
        raise ConfigError(name, f"Invalid value {pattern} for configuration {name}: {error}") from None


def _check_length(name: str, pattern: str, what: str) -> None:
    """Before anything reads it: some of that takes the square of its length."""
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise ConfigError(name, f"Invalid value {pattern[:100]} for configuration {name}: the {what} is too long")


_REPLACED = re.compile(r"\\(.)|\$(?:(\d)(\d*)|\{([A-Za-z][A-Za-z0-9]*)\})|([\\$])")


def java_replacement(name: str, text: str, pattern: BoundedPattern) -> Callable[[Groups], str]:
    """`$1`, `${name}` and `\\$` of Java's Matcher.replaceFirst. ConfigError if it names a group that is not there."""
    parts: list[str | int] = []
    at = 0
    for found in _REPLACED.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        escaped, first, more, named, odd = found.groups()
        if odd or (named and named not in pattern.groupindex) or (first and int(first) > pattern.groups):
            raise ConfigError(name, f"Invalid value {text} for configuration {name}: no such group: {found.group()}")
        if escaped:
            parts.append(escaped)
        elif named:
            parts.append(pattern.groupindex[named])
        else:
            number, used = int(first), 0  # Java takes as many digits as there are groups for
            while used < len(more) and number * 10 + int(more[used]) <= pattern.groups:
                number, used = number * 10 + int(more[used]), used + 1
            parts += [number, more[used:]]
    parts.append(text[at:])
    return lambda groups: "".join(part if isinstance(part, str) else groups[part] or "" for part in parts)
