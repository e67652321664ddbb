"""Topics of which tiers of the message audit disagree, or one lags, as reasons. Pure."""

from collections.abc import Iterable, Sequence

from console.kit.common.figures import utc_minute
from console.signals.overview.health import DisagreeingTopic, HealthLevel, HealthReason, LateTopic
from console.signals.overview.next_action import NextAction

_NAME_LENGTH_MAX = 60


def completeness_reasons(topics: Sequence[DisagreeingTopic], count: int) -> Iterable[HealthReason]:
    """Return reasons; `count`: of them all, of which the worst are named."""
    for topic in topics:
        windows = f"{topic.windows} window{'' if topic.windows == 1 else 's'}"
        name = topic.name[:_NAME_LENGTH_MAX]
        text = f"Of {name}, what was counted at one tier is not what was counted at the next, in {windows}."
        action = NextAction("See which windows, tiers and offsets", "completeness-topic", topic.name)
        yield HealthReason(
            HealthLevel.WARNING, f"Topic {topic.name}", text, action, topic.evidence, key=f"incomplete:{topic.name}",
            weight=topic.windows,
        )  # fmt: skip
    if count > len(topics):
        more = count - len(topics)
        text = f"Of {more} more topic{'' if more == 1 else 's'} tiers of the message audit disagree."
        yield HealthReason(
            HealthLevel.WARNING, "More topics", text, NextAction("See which", "completeness"), key="incomplete others"
        )


def late_reasons(topics: Sequence[LateTopic], count: int) -> Iterable[HealthReason]:
    """Return reasons; `count`: of them all, of which the worst are named."""
    for topic in topics:
        until, (noun, verb) = topic.complete_until_ms, ("window", "is") if topic.windows == 1 else ("windows", "are")
        text = (
            f"{topic.windows} {noun} of the message audit of {topic.name[:_NAME_LENGTH_MAX]} "
            f"that should be complete by now {verb} not: a tier lags, or nobody counts there any more."
        )
        sentence = "It was never complete." if until is None else f"It is complete until {utc_minute(until)}."
        action = NextAction("See which tier lags", "completeness-topic", topic.name)
        yield HealthReason(
            HealthLevel.WARNING,
            f"Topic {topic.name}",
            text,
            action,
            sentence,
            key=f"late:{topic.name}",
            weight=topic.windows,
        )
    if count > len(topics):
        more = count - len(topics)
        text = f"Of {more} more topic{'' if more == 1 else 's'} windows of the message audit are late."
        yield HealthReason(
            HealthLevel.WARNING, "More topics", text, NextAction("See which", "completeness"), key="late others"
        )
