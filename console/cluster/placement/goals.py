"""The goals of a balance in words, and how even brokers are as figures. Pure."""

from collections.abc import Collection, Iterable

from console.cluster.placement.optimise import GOALS, Goal, Spread
from console.kit.common.figures import byte_size, grouped, size

GOAL_WORDS = {
    Goal.REPLICAS: "replicas",
    Goal.LEADERS: "leaders",
    Goal.DISK: "bytes on disk",
    Goal.IN: "bytes in",
    Goal.OUT: "bytes out",
}
_LABELS = ("most now", "least now", "most then", "least then")


def rows(spreads: Iterable[Spread], chosen: Collection[Goal]) -> list[tuple[str, bool, list[tuple[str, str]]]]:
    """Return (words, whether it was a goal, (label, figure) of each column)."""
    return [
        (
            GOAL_WORDS[spread.goal],
            spread.goal in chosen,
            [
                (label, _figure(spread.goal, value))
                for label, value in zip(_LABELS, (*spread.before, *spread.after), strict=True)
            ],
        )
        for spread in spreads
    ]


def figures(load: Iterable[float] | None) -> list[str]:
    """Format a broker's load in the order of GOALS; dashes if unknown."""
    return ["–"] * len(GOALS) if load is None else [_figure(goal, item) for goal, item in zip(GOALS, load, strict=True)]


def _figure(goal: Goal, value: float) -> str:
    match goal:
        case Goal.IN | Goal.OUT:
            return f"{byte_size(value)}/s"
        case Goal.DISK:
            return size(round(value))
        case _:
            return grouped(round(value))
