"""The goals of a balance in words, and how even brokers are as figures. Pure."""

from collections.abc import Collection, Iterable

from console.common.figures import byte_size, grouped, size
from console.placement.optimise import Goal, Spread

GOAL_WORDS = {
    Goal.REPLICAS: "replicas",
    Goal.LEADERS: "leaders",
    Goal.DISK: "bytes on disk",
    Goal.IN: "bytes in",
    Goal.OUT: "bytes out",
}
_LABELS = ("most now", "least now", "most then", "least then")


def rows(spreads: Iterable[Spread], chosen: Collection[Goal]) -> list[tuple[str, bool, list[tuple[str, str]]]]:
    """(words, whether it was a goal, (label, figure) of each column)."""
    return [
        (
            GOAL_WORDS[each.goal],
            each.goal in chosen,
            [
                (label, _figure(each.goal, value))
                for label, value in zip(_LABELS, (*each.before, *each.after), strict=True)
            ],
        )
        for each in spreads
    ]


def _figure(goal: Goal, value: float) -> str:
    match goal:
        case Goal.IN | Goal.OUT:
            return f"{byte_size(value)}/s"
        case Goal.DISK:
            return size(round(value))
        case _:
            return grouped(round(value))
