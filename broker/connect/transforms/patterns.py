"""Java's patterns of a configuration: regular expressions, replacements and SimpleDateFormat."""

from collections.abc import Callable

from broker.common.bounded_patterns import BoundedPattern, Groups
from broker.common.clock import SystemClock
from broker.common.java.dates import DateFormat
from broker.common.java.patterns import compile_pattern
from broker.common.java.replacement import JavaReplacement
from broker.connect.api import ConfigError

#: What a topic's name or a pattern may take: a pattern is tried once for each record.
PATTERN_LENGTH_MAX = 1_000


def java_regex(name: str, pattern: str) -> BoundedPattern:
    """Compile a Java pattern. ConfigError names the key if it is invalid, or has no equal here.

    What it is matched with can be a stranger's, as names of topics are: it gives up where that would take long.
    """
    _check_length(name, pattern, "pattern")
    try:
        return BoundedPattern(compile_pattern(pattern), pattern)
    except ValueError as error:
        raise ConfigError(name, f"Invalid value {pattern} for configuration {name}: Invalid regex: {error}") from None


def date_format(name: str, pattern: str) -> DateFormat:
    """Parse a SimpleDateFormat in UTC. ConfigError names the key if it is invalid."""
    _check_length(name, pattern, "format")
    try:
        return DateFormat(pattern, SystemClock().now_ms())
    except ValueError as error:
        raise ConfigError(name, f"Invalid value {pattern} for configuration {name}: {error}") from None


def _check_length(name: str, pattern: str, what: str) -> None:
    """Refuse a pattern that is too long before it is parsed: some of that takes the square of its length."""
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise ConfigError(name, f"Invalid value {pattern[:100]} for configuration {name}: the {what} is too long")


def java_replacement(name: str, text: str, pattern: BoundedPattern) -> Callable[[Groups], str]:
    """Return a function that builds the replacement from the matched groups.

    ConfigError if the replacement names a group that is not there.
    """
    try:
        return JavaReplacement(text, pattern.groups, pattern.groupindex).of
    except ValueError as error:
        raise ConfigError(name, f"Invalid value {text} for configuration {name}: {error}") from None
