"""What the pages show of audited topics, of those a person may see."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import Combinable

from broker.audit.increment import ASIDES, AuditTier
from broker.audit.report import clock
from broker.audit.states import TROUBLES, WindowState
from broker.audit.tally import NO_WINDOW
from console.ecosystem.completeness.models import AuditedTopic
from console.ecosystem.completeness.rows import MOVES
from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.roles import Right

#: Counters speak every ten seconds; who has said nothing for longer counts no more.
SILENT_AFTER_MS = 180_000
#: Of windows on the list, a mark each.
MARKS_SHOWN = 60
#: A sink's group is called by its connector.
SINK_GROUP = "connect-"
TITLES = ("topic", "window_ms", "state", "tier", "records", "bytes")
_TONES = {
    WindowState.COMPLETE: "ok",
    WindowState.PENDING: "plain",
    WindowState.UNKNOWN: "plain",
    WindowState.SKIPPED: "warning",
    WindowState.REORDERED: "warning",
}


def tone_of(state: str) -> str:
    return _TONES.get(WindowState(state), "critical")


@dataclass(frozen=True, slots=True)
class WindowView:
    """`at_ms` is None for records without a time. `cells`: records of each of `tiers`, None where it counted none."""

    at_ms: int | None
    state: str
    tiers: tuple[str, ...]
    cells: tuple[int | None, ...]
    #: Tiers that have another number than the first.
    differs: tuple[bool, ...]

    @property
    def tone(self) -> str:
        return tone_of(self.state)

    @property
    def description(self) -> str:
        return f"{'without a time' if self.at_ms is None else clock(self.at_ms)}: {self.state}"

    @property
    def counts(self) -> list[tuple[str, int | None, bool]]:
        """(tier, records, whether that is wrong)."""
        is_wrong = self.state in TROUBLES
        return [
            (tier, cell, differs and is_wrong)
            for tier, cell, differs in zip(self.tiers, self.cells, self.differs, strict=True)
        ]


def is_seen(reach: Reach, column: str) -> bool:
    """Return whether a tier may be named: a group, and what a sink reads under, is for whom it is not hidden."""
    tier, _, reader = column.partition(" ")
    if tier == AuditTier.SUNK:
        reader = f"{SINK_GROUP}{reader.removesuffix(_aside_of(column))}"
    return tier not in (AuditTier.CONSUMED, AuditTier.COMMITTED, AuditTier.SUNK) or Right.VIEW in reach.rights_on(
        Resource.GROUP, reader
    )


def _aside_of(column: str) -> str:
    """Return `: dead-lettered` of a column that counts what a tier set aside; empty of a tier's own."""
    return next((f": {kind}" for kind in ASIDES if column.endswith(f": {kind}")), "")


@dataclass(frozen=True, slots=True)
class AuditedTopicRow:
    """A topic for users from whom `reach` hides nothing but what is not shown."""

    row: AuditedTopic
    now_ms: int
    reach: Reach = EVERYTHING

    @property
    def is_silent(self) -> bool:
        return self.now_ms - self.row.at_ms > SILENT_AFTER_MS

    @property
    def word(self) -> str:
        if self.row.finding_count:
            return "disagrees"
        if self.is_silent:
            return "not counted now"
        if len(self.tiers) < 2:
            return "one tier only"
        return "late" if self.row.late_count else "agrees"

    @property
    def tone(self) -> str:
        return {
            "disagrees": "critical",
            "late": "warning",
            "not counted now": "plain",
            "one tier only": "plain",
        }.get(self.word, "ok")

    @property
    def tiers(self) -> list[str]:
        names = dict.fromkeys(name for _, _, tiers in self.row.windows for name in tiers)
        return [name for name in names if is_seen(self.reach, name)]

    @property
    def findings(self) -> list[list[Any]]:
        """Window, tier, state, partition, offset, sentence."""
        return [item for item in self._visible_findings if item[2] not in MOVES]

    @property
    def moves(self) -> list[list[Any]]:
        """The findings of groups that moved back or were reset forward, each with its window."""
        return [item for item in self._visible_findings if item[2] in MOVES]

    @property
    def _visible_findings(self) -> list[list[Any]]:
        return [finding for finding in self.row.findings if is_seen(self.reach, finding[1])]

    @property
    def windows(self) -> list[WindowView]:
        """Return them, newest first."""
        names = self.tiers
        return [_window(window, names) for window in reversed(self.row.windows)]

    @property
    def marks(self) -> list[WindowView]:
        """The oldest first, as a reader goes."""
        return self.windows[:MARKS_SHOWN][::-1]


def _window(kept: list[Any], names: list[str]) -> WindowView:
    at_ms, state, tiers = kept
    cells = tuple(tiers[name][0] if name in tiers else None for name in names)
    first = next((cell for cell in cells if cell is not None), None)
    differs = tuple(
        value is not None and value != first and not _aside_of(name) for name, value in zip(names, cells, strict=True)
    )
    return WindowView(None if at_ms == NO_WINDOW else at_ms, state, tuple(names), cells, differs)


def seen(reach: Reach = EVERYTHING) -> QuerySet[AuditedTopic]:
    return AuditedTopic.objects.filter(within(reach, Resource.TOPIC, "name"))


def audited(now_ms: int, reach: Reach = EVERYTHING) -> list[AuditedTopicRow]:
    """Return them, worst first."""
    topic_rows = [AuditedTopicRow(item, now_ms, reach) for item in seen(reach)]
    return sorted(topic_rows, key=lambda row: (-row.row.finding_count, -row.row.late_count, row.row.name))


def disagreeing(reach: Reach = EVERYTHING) -> QuerySet[AuditedTopic]:
    return seen(reach).filter(finding_count__gt=0).order_by("-finding_count", "name")


def lagging(now_ms: int | Combinable, reach: Reach = EVERYTHING) -> QuerySet[AuditedTopic]:
    """Return the topics where windows should be complete and are not, though all counts agree."""
    counted = seen(reach).filter(finding_count=0, at_ms__gt=now_ms - SILENT_AFTER_MS)
    return counted.filter(late_count__gt=0).order_by("-late_count", "name")


def cells(rows: QuerySet[AuditedTopic], reach: Reach) -> Iterator[tuple[object, ...]]:
    """Yield a line for each tier of each window."""
    for row in rows.iterator():
        for window, state, tiers in row.windows:
            for tier, (count, size) in tiers.items():
                if is_seen(reach, tier):
                    yield row.name, window, state, tier, count, size
