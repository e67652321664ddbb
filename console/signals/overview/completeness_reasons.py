"""Topics of which tiers of the message audit disagree, or one lags, as reasons. Pure."""

from collections.abc import Iterable, Sequence

from console.kit.common.figures import utc_minute
from console.signals.overview.health import Action, DisagreeingTopic, LateTopic, Level, Reason


def completeness_reasons(topics: Sequence[DisagreeingTopic], count: int) -> Iterable[Reason]:
    """`count`: of them all, of which the worst are named."""
    for each in topics:
        windows = f"{each.windows} window{'' if each.windows == 1 else 's'}"
        text = f"What was counted at one tier is not what was counted at the next, in {windows}."
        action = Action("See which windows, tiers and offsets", "completeness-topic", each.name)
        yield Reason(
            Level.WARNING, f"Topic {each.name}", text, action, each.told, key=f"incomplete:{each.name}",
            weight=each.windows,
        )  # fmt: skip
    if count > len(topics):
        more = count - len(topics)
        text = f"Of {more} more topic{'' if more == 1 else 's'} tiers of the message audit disagree."
        yield Reason(Level.WARNING, "More topics", text, Action("See which", "completeness"), key="incomplete others")


def late_reasons(topics: Sequence[LateTopic], count: int) -> Iterable[Reason]:
    """`count`: of them all, of which the worst are named."""
    for each in topics:
        until, (noun, verb) = each.complete_until_ms, ("window", "is") if each.windows == 1 else ("windows", "are")
        text = (
            f"{each.windows} {noun} of the message audit that should be complete by now {verb} not: "
            "a tier lags, or nobody counts there any more."
        )
        told = "It was never complete." if until is None else f"It is complete until {utc_minute(until)}."
        action = Action("See which tier lags", "completeness-topic", each.name)
        yield Reason(
            Level.WARNING, f"Topic {each.name}", text, action, told, key=f"late:{each.name}", weight=each.windows
        )
    if count > len(topics):
        more = count - len(topics)
        text = f"Of {more} more topic{'' if more == 1 else 's'} windows of the message audit are late."
        yield Reason(Level.WARNING, "More topics", text, Action("See which", "completeness"), key="late others")
