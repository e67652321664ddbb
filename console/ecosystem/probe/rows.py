"""Brokers and partitions of the probe's page: what is true now, the last day in figures, and hour by hour. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.ecosystem.probe.figures import ProbeFigures, Tally, added

HOUR_MS = 3_600_000
#: Hours of a strip: those of a day, the present one included.
HOURS = 24
_GOOD, _FAIR = 0.9999, 0.99


@dataclass(frozen=True, slots=True)
class StripCell:
    """One hour of a strip; `tone` plain where nothing is known."""

    begins_ms: int
    share: float | None

    @property
    def tone(self) -> str:
        if self.share is None:
            return "plain"
        return "ok" if self.share >= _GOOD else "warning" if self.share >= _FAIR else "critical"


@dataclass(frozen=True, slots=True)
class PartRow:
    """`word` and `tone` of now; `figures` of the last day."""

    number: int
    word: str
    tone: str
    note: str
    figures: ProbeFigures
    strip: tuple[StripCell, ...]
    leader: int | None = None
    leads: int = 0


Hours = Sequence[tuple[int, Mapping[str, Tally]]]


def broker_rows(brokers: Sequence[Sequence[Any]], hours: Hours, now_ms: int) -> list[PartRow]:
    rows = []
    for number, leads, is_registered, since_ms, why in brokers:
        word, tone = ("answers", "ok") if since_ms is None else ("does not answer", "critical")
        if since_ms is not None and not is_registered:
            word = "away"
        name = f"broker/{number}"
        strip = _strip(name, hours, now_ms, lambda figures: figures.answer_availability)
        rows.append(PartRow(number, word, tone, why, _day(name, hours), strip, leads=leads))
    return rows


def partition_rows(
    partitions: Sequence[Sequence[Any]], troubled: Sequence[Sequence[Any]], hours: Hours, now_ms: int
) -> list[PartRow]:
    troubles = {partition: error for partition, _, error, _ in troubled}
    rows = []
    for number, leader, _replicas in partitions:
        word, tone = ("fails", "critical") if number in troubles else ("well", "ok")
        name = f"partition/{number}"
        strip = _strip(name, hours, now_ms, lambda figures: figures.produce_availability)
        led_by = leader if leader >= 0 else None
        rows.append(PartRow(number, word, tone, troubles.get(number, ""), _day(name, hours), strip, led_by))
    return rows


def _day(name: str, hours: Hours) -> ProbeFigures:
    return ProbeFigures(added(parts[name] for _, parts in hours if name in parts))


def _strip(name: str, hours: Hours, now_ms: int, share: Any) -> tuple[StripCell, ...]:
    known = {begins_ms: share(ProbeFigures(parts[name])) for begins_ms, parts in hours if name in parts}
    last_ms = now_ms - now_ms % HOUR_MS
    return tuple(
        StripCell(begins_ms, known.get(begins_ms))
        for begins_ms in range(last_ms - (HOURS - 1) * HOUR_MS, last_ms + HOUR_MS, HOUR_MS)
    )
