"""Topics that were to be deleted and were kept, as reasons: somebody has to say what becomes of them. Pure."""

from collections.abc import Iterable, Sequence

from console.signals.overview.health import HealthLevel, HealthReason, KeptTopic
from console.signals.overview.next_action import NextAction

#: Of a name in a sentence.
_NAME_LENGTH_MAX = 40


def kept_reasons(topics: Sequence[KeptTopic], count: int) -> Iterable[HealthReason]:
    """`count`: of them all, of which some are named."""
    action = NextAction("Call its deletion off, or plan it anew", "topics-planned")
    for topic in topics:
        name = topic.name if len(topic.name) <= _NAME_LENGTH_MAX else f"{topic.name[:_NAME_LENGTH_MAX]}…"
        text = f"Topic {name} was to be deleted after a day of grace, and was kept."
        key = f"kept topic:{topic.name}"
        yield HealthReason(HealthLevel.WARNING, f"Topic {topic.name}", text, action, topic.why, topic.since_ms, key)
    if more := count - len(topics):
        text = f"{more} more topic{' was' if more == 1 else 's were'} to be deleted, and kept."
        yield HealthReason(HealthLevel.WARNING, "More topics", text, action, key="kept topics", weight=more)
