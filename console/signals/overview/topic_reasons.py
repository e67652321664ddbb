"""Topics that were to be deleted and were kept, and those that are compacted no more, as reasons. Pure."""

from collections.abc import Iterable, Sequence

from console.signals.overview.health import HealthLevel, HealthReason, KeptTopic, UncompactedTopic
from console.signals.overview.next_action import NextAction

#: Of a name in a sentence.
_NAME_LENGTH_MAX = 40
#: Topics with a reason of their own; the rest are counted in one.
_UNCOMPACTED_NAMED_MAX = 3


def kept_reasons(topics: Sequence[KeptTopic], count: int) -> Iterable[HealthReason]:
    """Return reasons; `count`: of them all, of which some are named."""
    action = NextAction("Call its deletion off, or plan it again", "topics-planned")
    for topic in topics:
        name = topic.name if len(topic.name) <= _NAME_LENGTH_MAX else f"{topic.name[:_NAME_LENGTH_MAX]}…"
        text = f"Topic {name} was to be deleted after a day of grace, and was kept."
        key = f"kept topic:{topic.name}"
        yield HealthReason(HealthLevel.WARNING, f"Topic {topic.name}", text, action, topic.why, topic.since_ms, key)
    if more := count - len(topics):
        text = f"{more} more topic{' was' if more == 1 else 's were'} to be deleted, and kept."
        yield HealthReason(HealthLevel.WARNING, "More topics", text, action, key="kept topics", weight=more)


def uncompacted_reasons(topics: Sequence[UncompactedTopic]) -> Iterable[HealthReason]:
    step = "Read the broker's log for the damaged segment; if other replicas are in sync, move this one away and back"
    for topic in topics[:_UNCOMPACTED_NAMED_MAX]:
        name = topic.name if len(topic.name) <= _NAME_LENGTH_MAX else f"{topic.name[:_NAME_LENGTH_MAX]}…"
        numbers = ", ".join(map(str, topic.partitions[:5]))
        brokers = ", ".join(map(str, topic.broker_ids))
        are = "partition {} is" if len(topic.partitions) == 1 else "partitions {} are"
        text = f"Topic {name}: {are.format(numbers)} not compacted any more, so the log grows."
        evidence = f"broker {brokers}: {topic.reason}"
        key = f"uncompacted:{topic.name}"
        action = NextAction(step, "topic", topic.name)
        yield HealthReason(
            HealthLevel.WARNING, f"Topic {topic.name}", text, action, evidence, key=key, weight=len(topic.partitions)
        )
    if (more := len(topics) - _UNCOMPACTED_NAMED_MAX) > 0:
        text = f"{more} more topic{' is' if more == 1 else 's are'} not compacted any more."
        key = "more uncompacted"
        yield HealthReason(HealthLevel.WARNING, "More topics", text, NextAction(step), key=key, weight=more)
