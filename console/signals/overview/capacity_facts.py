"""What limits the cluster now or soon, out of what the collector wrote: quotas, replication throttles, volumes."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import F, Q, QuerySet

from console.cluster.acls.denied import DeniedClient
from console.cluster.brokers.leader_skew import leader_skew
from console.cluster.brokers.models import BrokerReport
from console.cluster.producers.stuck import StuckTransaction
from console.cluster.quotas.models import ObservedQuotaUse, QuotaRow
from console.cluster.retention.models import DiskGrowth
from console.cluster.schemas.refused import refused_within
from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.kept_statements import kept_rows
from console.kit.common.list_length import ListLength
from console.kit.common.stored_fields import from_stored
from console.kit.gateway.brokers.interface import UncleanableLog
from console.signals.overview.capacity import FillingVolume, HeldQuota, LeftThrottle
from console.signals.overview.capacity_reasons import WatchedVolume, filling_volumes
from console.signals.overview.health import UncompactedTopic
from console.signals.overview.next_action import NextAction
from console.state.clusters.access import topics_within
from console.state.clusters.models import Broker, ClusterState, Partition, Topic
from console.state.history.configuration import ALL_BROKERS
from console.state.history.models import Change, ChangeKind

HELD_QUOTAS_MAX = 5
#: Of those that get the most records, one grows most.
BUSY_TOPICS = 20
#: A reassignment that just ended has its throttle taken away in a moment.
AFTER_MOVE_MS = 300_000
#: A throttle is set before its reassignment is, which is seen some seconds later.
JUST_SET_MS = 30_000


def capacity_facts(
    state: ClusterState, brokers: Sequence[Broker], reports: Iterable[BrokerReport], at_ms: int, reach: Reach
) -> dict[str, Any]:
    return {
        "held_quotas": _held_quotas(reach),
        "left_throttle": _left_throttle(state, at_ms, reach),
        "filling": _filling(brokers, reports, reach),
        "denied": _denied(state, reach),
        "leader_skew": leader_skew(brokers, at_ms),
        "stuck_transactions": _stuck_transactions(state, reach),
        "uncompacted": _uncompacted(reports, reach),
        "refused_schemas": refused_within(state, reach),
        "registry_error": state.registry_error,
    }


def cause_of(change: Change | None) -> NextAction | None:
    """Return the change as a link to what happened about then."""
    if change is None:
        return None
    around = datetime.fromtimestamp(change.at_ms / 1_000, UTC).isoformat(timespec="seconds")
    return NextAction(change.sentence, "history", query=f"?{urlencode({'around': around})}")


def _denied(state: ClusterState, reach: Reach) -> tuple[DeniedClient, ...]:
    """Return denied clients, for users who see every name: a denial names a principal and its resource."""
    return tuple(from_stored(DeniedClient, item) for item in state.denied) if reach.sees_all_names else ()


def _stuck_transactions(state: ClusterState, reach: Reach) -> tuple[StuckTransaction, ...]:
    stuck = [from_stored(StuckTransaction, item) for item in state.stuck_transactions]
    return tuple(item for item in stuck if Right.VIEW in reach.rights_on(Resource.TOPIC, item.topic))


def _uncompacted(reports: Iterable[BrokerReport], reach: Reach) -> tuple[UncompactedTopic, ...]:
    """Return them by name, each topic once."""
    logs: dict[str, list[tuple[int, UncleanableLog]]] = {}
    for report in reports:
        for item in report.uncleanable:
            if Right.VIEW in reach.rights_on(Resource.TOPIC, item["topic"]):
                logs.setdefault(item["topic"], []).append((report.broker_id, from_stored(UncleanableLog, item)))
    return tuple(
        UncompactedTopic(
            topic,
            tuple(sorted({log.partition for _, log in of_topic})),
            tuple(sorted({broker_id for broker_id, _ in of_topic})),
            of_topic[0][1].reason,
        )
        for topic, of_topic in sorted(logs.items())
    )


def _held_quotas(reach: Reach) -> tuple[HeldQuota, ...]:
    """Return quotas, for users who see every name: quotas name users and clients."""
    if not reach.sees_all_names:
        return ()
    return tuple(quota for row in kept_rows(_held) for quota in _as_held(row))


def _held() -> QuerySet[QuotaRow]:
    return QuotaRow.objects.filter(held_since_ms__isnull=False).order_by("held_since_ms")[:HELD_QUOTAS_MAX]


def _as_held(row: QuotaRow) -> Iterable[HeldQuota]:
    change = Change.objects.filter(kind=ChangeKind.QUOTA, object_name=row.words).first()
    for limit in row.limits:
        held = [use for use in row.seen if use.key == limit.key and use.held_since_ms is not None]
        if held:
            yield HeldQuota(
                row.words,
                limit.label,
                limit.text,
                min(use.held_since_ms or 0 for use in held),
                tuple(dict.fromkeys(_who_waits(use) for use in held)),
                f"?{urlencode({'search': row.words.rpartition(' ')[2]})}",
                cause_of(change),
            )


def _who_waits(use: ObservedQuotaUse) -> str:
    return f"{use.who} {use.wait_text}".rstrip() + f" at broker {use.broker_id}"


def _left_throttle(state: ClusterState, at_ms: int, reach: Reach) -> LeftThrottle | None:
    """Return a leftover throttle; None without both a rate and replicas that it holds for, and during reassignments."""
    if not state.throttled_brokers or not state.throttled_topics or _is_moving(at_ms):
        return None
    named = topics_within(reach).filter(name__in=state.throttled_topics).order_by("name")
    topics = tuple(named.values_list("name", flat=True))
    if not topics:
        return None
    behind = Partition.objects.alias(in_sync=ListLength("isr"), all=ListLength("replicas")).filter(
        topic__name__in=topics, in_sync__lt=F("all")
    )
    throttling = Q(sentence__contains=".replication.throttled.")
    is_of_topics = Q(kind=ChangeKind.SETTINGS, object_name__in=topics)
    of_topics = within(reach, Resource.TOPIC, "object_name") & is_of_topics
    change = Change.objects.filter(throttling, of_topics | Q(kind=ChangeKind.BROKER_SETTINGS)).first()
    if change is not None and at_ms - change.at_ms < JUST_SET_MS:
        return None
    return LeftThrottle(
        tuple(sorted(int(name.removeprefix("broker-")) for name in state.throttled_brokers if name != ALL_BROKERS)),
        min(state.throttled_brokers.values()),
        topics,
        behind.count(),
        None if change is None else change.at_ms,
        cause_of(change),
    )


def _is_moving(at_ms: int) -> bool:
    if Partition.objects.alias(coming=ListLength("adding")).filter(coming__gt=0).exists():
        return True
    return Change.objects.filter(kind=ChangeKind.REPLICAS, at_ms__gt=at_ms - AFTER_MOVE_MS).exists()


def _filling(brokers: Sequence[Broker], reports: Iterable[BrokerReport], reach: Reach) -> tuple[FillingVolume, ...]:
    growths = {(growth.broker_id, growth.path): growth for growth in kept_rows(_growths)}
    if not growths:
        return ()
    hosts = {broker.broker_id: broker.host for broker in brokers}
    watched = [
        WatchedVolume(
            report.broker_id,
            hosts.get(report.broker_id, ""),
            directory.path,
            directory.total_bytes,
            directory.usable_bytes,
            growth.filling_per_second,
            growth.long_filling_per_second,
        )
        for report in reports
        for directory in report.directories
        if (growth := growths.get((report.broker_id, directory.path)))
        and directory.total_bytes
        and directory.usable_bytes is not None
        and not directory.error
        and not directory.is_full
    ]
    return tuple(_with_topic(volume, reach) for volume in filling_volumes(watched))


def _growths() -> QuerySet[DiskGrowth]:
    return DiskGrowth.objects.filter(filling_per_second__gt=0)


def _with_topic(volume: FillingVolume, reach: Reach) -> FillingVolume:
    """Return it with the topic that grows most by bytes; records have the mean size of those that are there."""
    busiest = topics_within(reach).filter(records_per_second__gt=0, record_count__gt=0, size_bytes__gt=0)
    grown = [(_bytes_per_second(topic), topic.name) for topic in busiest.order_by("-records_per_second")[:BUSY_TOPICS]]
    if not grown:
        return volume
    per_second, name = max(grown)
    return FillingVolume(volume.broker_ids, volume.path, volume.usable_bytes, volume.full_in_ms, name, per_second)


def _bytes_per_second(topic: Topic) -> float:
    """Return the rate of all its replicas together."""
    return (topic.records_per_second or 0.0) * topic.size_bytes / topic.record_count
