"""What everybody may know of a cluster: whether it could be written and read, hour by hour and day by day. Pure.

No names, addresses, numbers of brokers or records: shares of what the probe tried, and since when it has tried nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from console.ecosystem.probe.figures import ProbeFigures, added
from console.kit.common.figures import share

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
DAYS = 30
#: Without a minute of the probe for so long nobody knows how it is now.
SILENT_MS = 5 * 60_000

Window = tuple[int, ProbeFigures]


@dataclass(frozen=True, slots=True)
class StatusCell:
    """A day or an hour: `tone` as badges have it, none where nothing was tried."""

    begins_ms: int
    tone: str
    words: str


@dataclass(frozen=True, slots=True)
class ClusterAvailability:
    """Availability of one cluster; shares are 0 to 1, None where nothing was tried."""

    title: str
    tone: str
    words: str
    write_day: float | None
    read_day: float | None
    write_month: float | None
    read_month: float | None
    hours: list[StatusCell]
    days: list[StatusCell]


def availability(title: str, minutes: Sequence[Window], hours: Sequence[Window], now_ms: int) -> ClusterAvailability:
    """Return the availability. `minutes` of the last ones, oldest first; `hours` of thirty days."""
    tone, words = _now(minutes, now_ms)
    day = ProbeFigures(added(hour.tally for begins_ms, hour in hours if begins_ms > now_ms - DAY_MS))
    month = ProbeFigures(added(hour.tally for _, hour in hours))
    return ClusterAvailability(
        title,
        tone,
        words,
        day.produce_availability,
        day.consume_availability,
        month.produce_availability,
        month.consume_availability,
        _cells(hours, now_ms, HOUR_MS, 24),
        _cells(hours, now_ms, DAY_MS, DAYS),
    )


def _now(minutes: Sequence[Window], now_ms: int) -> tuple[str, str]:
    if not minutes or now_ms - minutes[-1][0] > SILENT_MS:
        return "plain", "Not measured now"
    tone = _tone(minutes[-1][1])
    return tone, {"ok": "Available", "warning": "Partly available", "critical": "Not available"}.get(tone, "Not known")


def _cells(hours: Sequence[Window], now_ms: int, length_ms: int, count: int) -> list[StatusCell]:
    """Return cells by the clock (UTC), the present one last."""
    last_ms = now_ms - now_ms % length_ms
    tallies: dict[int, list[ProbeFigures]] = {last_ms - index * length_ms: [] for index in reversed(range(count))}
    for begins_ms, figures in hours:
        if (cell := begins_ms - begins_ms % length_ms) in tallies:
            tallies[cell].append(figures)
    return [
        _cell(begins_ms, ProbeFigures(added(figure.tally for figure in tally))) for begins_ms, tally in tallies.items()
    ]


def _cell(begins_ms: int, figures: ProbeFigures) -> StatusCell:
    write, read = figures.produce_availability, figures.consume_availability
    if write is None and read is None:
        return StatusCell(begins_ms, "", "not measured")
    parts = [f"{word} {share(value)}" for word, value in (("to write", write), ("to read", read)) if value is not None]
    return StatusCell(begins_ms, _tone(figures), ", ".join(parts))


def _tone(figures: ProbeFigures) -> str:
    """Return the tone: no success at all is critical; one failure in a thousand is within the normal."""
    known = [item for item in (figures.produce_availability, figures.consume_availability) if item is not None]
    if not known:
        return ""
    if min(known) == 0:
        return "critical"
    return "ok" if min(known) >= 0.999 else "warning"
