"""Times at which not all was well, in words: where nothing was measured, where something failed. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.ecosystem.probe.figures import ProbeFigures

MINUTE_MS = 60_000
GAPS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Minute:
    begins_ms: int
    figures: ProbeFigures
    silent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProbeGap:
    """`tone`: critical where records were lost, warning where something failed, plain where nothing was measured."""

    from_ms: int
    to_ms: int
    sentence: str
    tone: str

    @property
    def lasted_ms(self) -> int:
        return self.to_ms - self.from_ms


def gaps(minutes: Sequence[Minute], until_ms: int) -> list[ProbeGap]:
    """Return gaps, newest first; minutes in a row with the same silent brokers are one. `until_ms`: when it is now."""
    stretches: list[tuple[int, int, tuple[int, ...] | None, list[ProbeFigures]]] = []
    expected = minutes[0].begins_ms if minutes else until_ms
    for minute in minutes:
        if minute.begins_ms > expected:
            stretches.append((expected, minute.begins_ms, None, []))
        expected = minute.begins_ms + MINUTE_MS
        if not _is_well(minute):
            _add(stretches, minute)
    if until_ms - expected >= 2 * MINUTE_MS:
        stretches.append((expected, until_ms, None, []))
    return [_gap(*item) for item in reversed(stretches)][:GAPS_SHOWN]


def _add(stretches: list[tuple[int, int, tuple[int, ...] | None, list[ProbeFigures]]], minute: Minute) -> None:
    end_ms = minute.begins_ms + MINUTE_MS
    if stretches and stretches[-1][1] == minute.begins_ms and stretches[-1][2] == minute.silent:
        from_ms, _, silent, figures = stretches[-1]
        stretches[-1] = (from_ms, end_ms, silent, [*figures, minute.figures])
    else:
        stretches.append((minute.begins_ms, end_ms, minute.silent, [minute.figures]))


def _is_well(minute: Minute) -> bool:
    figures = minute.figures
    is_available = figures.produce_availability in (None, 1.0) and figures.consume_availability in (None, 1.0)
    return is_available and not (minute.silent or figures.lost or figures.duplicated or figures.reordered)


def _gap(from_ms: int, to_ms: int, silent: tuple[int, ...] | None, figures: list[ProbeFigures]) -> ProbeGap:
    if silent is None:
        return ProbeGap(
            from_ms, to_ms, "Nothing was measured: the probe did not run, or the collector did not read it.", "plain"
        )
    parts = [f"Broker {', '.join(map(str, silent))} did not answer"] if silent else []
    parts += list(_failures(figures))
    lost = sum(figure.lost for figure in figures)
    return ProbeGap(from_ms, to_ms, f"{'; '.join(parts)}.", "critical" if lost else "warning")


def _failures(figures: Iterable[ProbeFigures]) -> Iterable[str]:
    figures = list(figures)
    for name, words in (
        ("not_written", "{} of {} records were not acknowledged"),
        ("not_fetched", "{} of {} readings failed"),
    ):
        good = {"not_written": "written", "not_fetched": "fetched"}[name]
        failed = sum(figure.tally.get(name, 0) for figure in figures)
        if failed:
            yield words.format(failed, failed + sum(figure.tally.get(good, 0) for figure in figures))
    for count, words in (
        (sum(figure.lost for figure in figures), "lost"),
        (sum(figure.duplicated for figure in figures), "there twice"),
        (sum(figure.reordered for figure in figures), "out of order"),
    ):
        if count:
            yield f"{count} acknowledged record{'' if count == 1 else 's'} {words}"
