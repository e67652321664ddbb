"""The topics that a sink reads by a pattern, `topics.regex`: those that match it now. By Java's rules, as Connect reads
it. Pure.
"""

from collections.abc import Iterable

from broker.common.bounded_patterns import BoundedPattern, has_few_ways
from broker.common.java.patterns import compile_pattern

#: A Kafka consumer reads these by name alone, whatever the pattern.
_NEVER_MATCHED = frozenset({"__consumer_offsets", "__transaction_state"})
#: Longer ones Connect itself refuses here.
_LENGTH_MAX = 1_000


def matched_topics(pattern: str, names: Iterable[str]) -> list[str] | None:
    """Return those of `names` that match as a whole; None: the pattern is invalid, or matching may take too long."""
    if len(pattern) > _LENGTH_MAX or not has_few_ways(pattern):
        return None
    try:
        matches = BoundedPattern(compile_pattern(pattern), pattern).fullmatch
    except ValueError:
        return None
    return sorted(name for name in names if name not in _NEVER_MATCHED and matches(name))
