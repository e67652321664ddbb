"""The collector's look at retention: some topics at a time, those never looked at first, then the oldest looks.

Asking what would be deleted costs a broker more than asking for offsets, so that a large cluster is gone through in
rounds; each row says when it was looked at.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping

from django.db.models import F, QuerySet

from console.cluster.brokers.models import BrokerReport, Directory
from console.cluster.retention.announce import RetentionAnnouncer
from console.cluster.retention.growth import LONG_SPAN_MIN_MS, LONG_WINDOW_MS, GrowthWindow
from console.cluster.retention.models import DiskGrowth, TopicOutlook
from console.cluster.retention.plan import losses, totals
from console.kit.common.clock import now_ms
from console.kit.common.databases import cluster_atomic
from console.kit.common.kept_statements import kept_rows
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.retention.interface import CommittedView, RetentionView
from console.state.clusters.models import Partition, Topic
from console.state.consumers.models import GroupPartition
from console.state.consumers.tiers import TierContext, TierLook

TOPICS_PER_LOOK = 100
#: A topic is looked at again after this long.
AGAIN_AFTER_MS = 15_000
GROUPS_NAMED = 5
_FIELDS = [
    "at_ms",
    "retention_bytes",
    "oldest_at_ms",
    "doomed_records",
    "doomed_bytes",
    "doomed_segments",
    "lost_records",
    "losing_groups",
]


class RetentionSweep:
    """Used from one thread."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int] = now_ms):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._growth = GrowthWindow()
        self._long_growth = GrowthWindow(LONG_WINDOW_MS, LONG_SPAN_MIN_MS)
        self._said_at_ms: dict[int, int] = {}

    def look(self) -> list[int]:
        """Return the topics (primary keys) that were looked at. Raises GatewayError."""
        self._watch_disks()
        due = list(self._due())
        if not due:
            return []
        names = [topic.name for topic in due]
        views, committed = self._views(names), _committed(names)
        oldest = self._oldest(due)
        rows = [
            _outlook(topic, self._now_ms(), views.get(topic.name), committed.get(topic.name, {}), oldest.get(topic.pk))
            for topic in due
        ]
        return _keep(rows)

    def _due(self) -> QuerySet[Topic]:
        stale_ms = self._now_ms() - AGAIN_AFTER_MS
        due = Topic.objects.exclude(outlook__at_ms__gt=stale_ms)
        return due.order_by(F("outlook__at_ms").asc(nulls_first=True), "name")[:TOPICS_PER_LOOK]

    def _views(self, names: list[str]) -> Mapping[str, RetentionView]:
        """Return the retention previews, none from a cluster whose brokers do not know the request."""
        try:
            return self._gateway.retention_outlook(names)
        except GatewayError:
            return {}

    def _oldest(self, topics: list[Topic]) -> dict[int, int]:
        """Return topic (primary key) → when its oldest record was written."""
        places = {
            (name, partition): topic_id
            for topic_id, name, partition in Partition.objects.filter(topic__in=topics).values_list(
                "topic_id", "topic__name", "partition"
            )
        }
        oldest: dict[int, int] = {}
        for place, at_ms in self._gateway.oldest_records(places).items():
            if at_ms is not None:
                oldest[places[place]] = min(at_ms, oldest.get(places[place], at_ms))
        return oldest

    def _watch_disks(self) -> None:
        """Watch the brokers' disks; nothing without new reports."""
        rows: list[DiskGrowth] = []
        keys: set[Hashable] = set()
        for report in kept_rows(_reports):
            is_news = self._said_at_ms.get(report.broker_id) != report.log_dirs_at_ms
            self._said_at_ms[report.broker_id] = report.log_dirs_at_ms
            for directory in report.directories:
                keys |= {("logs", report.broker_id, directory.path), ("room", report.broker_id, directory.path)}
                if is_news and not directory.error:
                    rows.append(self._grown(report.broker_id, directory, report.log_dirs_at_ms))
        self._growth.forget_all_but(keys)
        self._long_growth.forget_all_but(keys)
        if not rows:
            return
        DiskGrowth.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["broker_id", "path"],
            update_fields=["logs_per_second", "filling_per_second", "long_filling_per_second"],
        )

    def _grown(self, broker_id: int, directory: Directory, at_ms: int) -> DiskGrowth:
        logs = self._growth.observe(("logs", broker_id, directory.path), directory.size_bytes, at_ms)
        room = long_room = None
        if directory.usable_bytes is not None:
            key = ("room", broker_id, directory.path)
            room = self._growth.observe(key, directory.usable_bytes, at_ms)
            long_room = self._long_growth.observe(key, directory.usable_bytes, at_ms)
        return DiskGrowth(
            broker_id=broker_id,
            path=directory.path,
            logs_per_second=logs,
            filling_per_second=None if room is None else -room,
            long_filling_per_second=None if long_room is None else -long_room,
        )


def _reports() -> QuerySet[BrokerReport]:
    return BrokerReport.objects.only("broker_id", "log_dirs", "log_dirs_at_ms")


def _keep(rows: list[TopicOutlook]) -> list[int]:
    """Store rows of existing topics: one may be deleted while it is looked at. Return their primary keys."""
    with cluster_atomic():
        there = Topic.objects.select_for_update().filter(pk__in=[row.topic_id for row in rows])
        left = set(there.values_list("pk", flat=True))
        rows = [row for row in rows if row.topic_id in left]
        TopicOutlook.objects.bulk_create(rows, update_conflicts=True, unique_fields=["topic"], update_fields=_FIELDS)
    return [row.topic_id for row in rows]


def _outlook(
    topic: Topic,
    at_ms: int,
    view: RetentionView | None,
    committed: Mapping[str, Mapping[int, int]],
    oldest_at_ms: int | None,
) -> TopicOutlook:
    outlook = TopicOutlook(topic=topic, at_ms=at_ms, oldest_at_ms=oldest_at_ms)
    if view is None:
        return outlook
    retention_totals, lost = totals(view), losses(view, CommittedView(committed))
    outlook.retention_bytes = view.retention_bytes
    outlook.doomed_records, outlook.doomed_bytes, outlook.doomed_segments = (
        retention_totals.records,
        retention_totals.size_bytes,
        retention_totals.segments,
    )
    outlook.lost_records = sum(loss.records for loss in lost)
    outlook.losing_groups = [item.group for item in lost[:GROUPS_NAMED]]
    return outlook


def _committed(topics: Iterable[str]) -> dict[str, dict[str, dict[int, int]]]:
    """Return topic → group → partition → offset."""
    committed: dict[str, dict[str, dict[int, int]]] = {}
    places = GroupPartition.objects.filter(topic__in=list(topics), committed__isnull=False)
    for topic, group, partition, offset in places.values_list("topic", "group__name", "partition", "committed"):
        if offset is None:
            continue
        committed.setdefault(topic, {}).setdefault(group, {})[partition] = offset
    return committed


def tier(context: TierContext) -> TierLook:
    sweep, pages = RetentionSweep(context.gateway, context.clock_ms), RetentionAnnouncer()
    return TierLook(lambda: pages.looked_at(sweep.look()))
