"""The past of a lag as a step line: it is written when it changes, and stays until it does. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

WIDTH, HEIGHT = 1_000, 120
#: Shorter pasts are not stretched over the whole width.
SPAN_MIN_MS = 120_000


class Sample(Protocol):
    at_ms: int
    lag: int


@dataclass(frozen=True, slots=True)
class LagChart:
    """`line` and `area` are SVG points."""

    line: str
    area: str
    highest: int
    from_ms: int
    to_ms: int


def lag_chart(samples: Sequence[Sample], lag_now: int | None, now_ms: int) -> LagChart | None:
    """None without a past. `samples` are in the order of time; `lag_now` None: not known."""
    if not samples:
        return None
    to_ms = max(now_ms, samples[-1].at_ms)
    from_ms = min(samples[0].at_ms, to_ms - SPAN_MIN_MS)
    highest = max(*(each.lag for each in samples), lag_now or 0)
    points: list[str] = []
    y = _y(samples[0].lag, highest)
    for each in samples:
        x = _x(each.at_ms, from_ms, to_ms)
        points.append(f"{x},{y}")
        y = _y(each.lag, highest)
        points.append(f"{x},{y}")
    points += [f"{WIDTH},{y}", f"{WIDTH},{y if lag_now is None else _y(lag_now, highest)}"]
    first_x = _x(samples[0].at_ms, from_ms, to_ms)
    area = " ".join([f"{first_x},{HEIGHT}", *points, f"{WIDTH},{HEIGHT}"])
    return LagChart(" ".join(points), area, highest, from_ms, to_ms)


def _x(at_ms: int, from_ms: int, to_ms: int) -> int:
    return round(WIDTH * (at_ms - from_ms) / max(1, to_ms - from_ms))


def _y(lag: int, highest: int) -> int:
    """A pixel of room for the stroke at either end."""
    return round(1 + (HEIGHT - 2) * (1 - lag / max(1, highest)))
