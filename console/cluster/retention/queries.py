"""Reading the retention of the whole cluster: topics filtered, sorted and paged in the database, and the disks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.http import QueryDict

from console.cluster.brokers.models import BrokerReport, Directory
from console.cluster.retention.growth import full_in_ms
from console.cluster.retention.models import DiskGrowth, TopicOutlook
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.clock import utc
from console.state.clusters.access import topics_within
from console.state.clusters.models import Topic

#: What a column sorts by, as it stands in the address.
SORTS = {
    "name": "name",
    "size": "size_bytes",
    "retention": "retention_ms",
    "room": "outlook__retention_bytes",
    "oldest": "outlook__oldest_at_ms",
    "doomed": "outlook__doomed_bytes",
    "lost": "outlook__lost_records",
}
#: A disk that is full sooner is told in red, and in yellow.
SOON_MS, COMING_MS = 24 * 3_600_000, 7 * 24 * 3_600_000
TITLES = (
    "topic",
    "bytes_on_disk",
    "cleanup_policy",
    "retention_ms",
    "retention_bytes",
    "oldest_record",
    "records_deleted_now",
    "bytes_deleted_now",
    "unread_records_lost",
    "losing_groups",
    "looked_at",
)


@dataclass(frozen=True, slots=True)
class RetentionQuery:
    """What the page was asked for. Anything unknown falls back to the default; a page never fails for it."""

    search: str = ""
    sort: str = "doomed"
    is_descending: bool = True
    shows_internal: bool = False
    page: str = "1"

    @classmethod
    def parse(cls, parameters: QueryDict) -> "RetentionQuery":
        wanted = parameters.get("sort", "-doomed")
        sort = wanted.removeprefix("-")
        return cls(
            search=parameters.get("search", "").strip()[:249],
            sort=sort if sort in SORTS else "doomed",
            is_descending=wanted.startswith("-") or sort not in SORTS,
            shows_internal=parameters.get("internal") == "on",
            page=parameters.get("page", "1"),
        )


@dataclass(frozen=True, slots=True)
class Disk:
    """A log directory and how its volume fills."""

    broker_id: int
    directory: Directory
    logs_per_second: float | None
    filling_per_second: float | None

    @property
    def logs_rate(self) -> int:
        return round(self.logs_per_second or 0)

    @property
    def filling_rate(self) -> int:
        return round(self.filling_per_second or 0)

    @property
    def full_in_ms(self) -> int | None:
        return full_in_ms(self.directory.usable_bytes, self.filling_per_second)

    @property
    def tone(self) -> str:
        if self.full_in_ms is None:
            return ""
        return "critical" if self.full_in_ms < SOON_MS else "warning" if self.full_in_ms < COMING_MS else ""


def chosen_topics(query: RetentionQuery, reach: Reach) -> QuerySet[Topic]:
    topics = topics_within(reach).select_related("outlook")
    if not query.shows_internal:
        topics = topics.filter(is_internal=False)
    if query.search:
        topics = topics.filter(name__icontains=query.search)
    field = F(SORTS[query.sort])
    order = field.desc(nulls_last=True) if query.is_descending else field.asc(nulls_last=True)
    return topics.order_by(order, "name")


def retention_page(query: RetentionQuery, reach: Reach, rows: int) -> "Page[Any]":
    page = Paginator(chosen_topics(query, reach), rows).get_page(query.page)
    page.object_list = with_outlooks(page.object_list, reach)
    return page


def with_outlooks(topics: Iterable[Topic], reach: Reach = EVERYTHING) -> list[Topic]:
    """Return the topics, each with `seen`: its outlook, or one that knows nothing."""
    listed = list(topics)
    for topic in listed:
        topic.seen = _outlook_of(topic, reach)
    return listed


def _outlook_of(topic: Topic, reach: Reach) -> TopicOutlook:
    """Return the topic's outlook, without groups' losses where some are beyond reach: the sum would reveal them."""
    outlook = getattr(topic, "outlook", None) or TopicOutlook()
    if reach.is_limited(Resource.GROUP):
        outlook.lost_records, outlook.losing_groups = None, []
    return outlook


def disks() -> list[Disk]:
    growths = {(growth.broker_id, growth.path): growth for growth in DiskGrowth.objects.all()}
    disks = []
    for report in BrokerReport.objects.order_by("broker_id"):
        for directory in report.directories:
            growth = growths.get((report.broker_id, directory.path), DiskGrowth())
            disks.append(Disk(report.broker_id, directory, growth.logs_per_second, growth.filling_per_second))
    return disks


def export_rows(topics: Iterable[Topic], reach: Reach) -> Iterator[tuple[object, ...]]:
    for topic in topics:
        outlook = _outlook_of(topic, reach)
        yield (
            topic.name,
            topic.size_bytes,
            topic.cleanup_policy,
            topic.retention_ms,
            outlook.retention_bytes,
            _moment(outlook.oldest_at_ms),
            outlook.doomed_records,
            outlook.doomed_bytes,
            outlook.lost_records,
            outlook.losing_groups,
            _moment(outlook.at_ms),
        )


def _moment(at_ms: int | None) -> datetime | int | None:
    return utc(at_ms) or at_ms if at_ms else None
