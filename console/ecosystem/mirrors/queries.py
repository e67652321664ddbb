"""What the page shows of mirrors, of topics a person may see."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Q, QuerySet

from console.ecosystem.mirrors.figures import SILENT_AFTER_MS, MirrorPartition, named
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.kept_statements import kept_rows

#: Of one flow on the page; the worst come first, all of them are in the CSV.
SHOWN_MAX = 200


@dataclass(frozen=True, slots=True)
class MirroredTopicRow:
    row: MirroredTopic
    now_ms: int

    @property
    def is_silent(self) -> bool:
        return self.now_ms - self.row.at_ms > SILENT_AFTER_MS

    @property
    def word(self) -> str:
        if self.is_silent:
            return "silent"
        if self.row.failing:
            return "fails"
        if any(partition.is_paused for _, partition in self.partitions):
            return "paused"
        return "copies" if self.row.lag else "has all"

    @property
    def tone(self) -> str:
        return {"silent": "warning", "fails": "critical", "paused": "plain"}.get(self.word, "ok")

    @property
    def behind_ms(self) -> int | None:
        """The least age of the oldest record that is not copied; None if unknown."""
        row = self.row
        if not row.lag or row.copied_until_ms is None:
            return None
        return max(self.now_ms - row.copied_until_ms, 0)

    @property
    def partitions(self) -> list[tuple[int, MirrorPartition]]:
        return sorted((int(number), MirrorPartition(*item)) for number, item in self.row.partitions.items())

    @property
    def failing(self) -> list[tuple[str, str]]:
        return [(named(number), partition.error) for number, partition in self.partitions if partition.error]

    @property
    def notices(self) -> list[tuple[str, str]]:
        return [(named(number), partition.notice) for number, partition in self.partitions if partition.notice]


@dataclass(frozen=True, slots=True)
class FlowRow:
    name: str
    topics: tuple[MirroredTopicRow, ...]
    count: int
    lag: int | None
    rate: float
    #: Topics, as the others: of one some partitions may fail, or the whole.
    failing: int
    silent: int

    @property
    def hidden(self) -> int:
        return self.count - len(self.topics)


def seen(reach: Reach = EVERYTHING) -> QuerySet[MirroredTopic]:
    """Return the mirrored topics in reach, by copies here or by originals of copies elsewhere."""
    here = Q(cluster="") & within(reach, Resource.TOPIC, "target")
    return MirroredTopic.objects.filter(here | ~Q(cluster="") & within(reach, Resource.TOPIC, "topic"))


def flows(now_ms: int, reach: Reach = EVERYTHING) -> list[FlowRow]:
    topic_rows = (MirroredTopicRow(row, now_ms) for row in seen(reach).iterator())
    return [_flow(name, list(rows)) for name, rows in groupby(topic_rows, key=lambda row: row.row.flow)]


def _flow(name: str, rows: list[MirroredTopicRow]) -> FlowRow:
    worst = sorted(rows, key=lambda row: (-row.row.failing, not row.is_silent, -(row.row.lag or 0), row.row.topic))
    lags = [row.row.lag for row in rows]
    return FlowRow(
        name, tuple(worst[:SHOWN_MAX]), len(rows), None if None in lags else sum(filter(None, lags)),
        sum(row.row.rate for row in rows if not row.is_silent), sum(row.row.failing > 0 for row in rows),
        sum(row.is_silent for row in rows),
    )  # fmt: skip


def troubled(now_ms: int, reach: Reach = EVERYTHING) -> Iterable[MirroredTopicRow]:
    """Return topics that fail, or whose mirror does not report any more."""
    return (
        topic_row
        for topic_row in (MirroredTopicRow(row, now_ms) for row in kept_rows(seen, reach))
        if topic_row.row.failing or topic_row.is_silent
    )
