"""Rows per second of the last minutes as SVG points: what arrives, and what the job has processed. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.ecosystem.streams.pace import PacePoint

WIDTH, HEIGHT = 1_000, 120
SPAN_MS = 300_000


@dataclass(frozen=True, slots=True)
class RateChart:
    arrived: str
    processed: str
    area: str
    highest: float
    to_ms: int


def rate_chart(points: Sequence[PacePoint]) -> RateChart | None:
    """None below two points. The right edge is the newest point, the left one SPAN_MS before it."""
    if len(points) < 2:
        return None
    to_ms = points[-1]["at_ms"]
    shown = [point for point in points if point["at_ms"] >= to_ms - SPAN_MS]
    rates = {name: [(point["at_ms"], _rate(point, name)) for point in shown] for name in ("arrived", "processed")}
    highest = max((rate or 0.0 for found in rates.values() for _, rate in found), default=0.0)
    processed = _line(rates["processed"], to_ms, highest)
    first_x = processed.split(",", 1)[0]
    area = f"{first_x},{HEIGHT} {processed} {WIDTH},{HEIGHT}"
    return RateChart(_line(rates["arrived"], to_ms, highest), processed, area, highest, to_ms)


def _rate(point: PacePoint, name: str) -> float | None:
    return point.get("arrived") if name == "arrived" else point.get("processed")


def _line(rates: Sequence[tuple[int, float | None]], to_ms: int, highest: float) -> str:
    return " ".join(f"{_x(at_ms, to_ms)},{_y(rate, highest)}" for at_ms, rate in rates if rate is not None)


def _x(at_ms: int, to_ms: int) -> int:
    return round(WIDTH * (1 - (to_ms - at_ms) / SPAN_MS))


def _y(rate: float, highest: float) -> int:
    """A pixel of room for the stroke at either end."""
    return round(HEIGHT - 1 - (HEIGHT - 2) * rate / max(highest, 1e-9))
