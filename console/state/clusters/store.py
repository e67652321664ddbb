"""The collector's database: rows are loaded once when it starts, and only changed ones are written."""

from collections.abc import Iterable
from dataclasses import asdict
from operator import attrgetter

from console.kit.common.databases import cluster_atomic
from console.kit.common.kept_statements import update_row
from console.kit.common.many_rows import keys_of, put_rows
from console.kit.common.names import DEFAULT_CLUSTER
from console.state.clusters.broker_rows import BrokerRow, ReplicaCounts
from console.state.clusters.models import Broker, ClusterState, Partition, Topic
from console.state.clusters.topic_rows import PartitionRow, TopicChanges, TopicRow

_TOPIC_FIELDS = [
    "topic_id",
    "is_internal",
    "partition_count",
    "replication_factor",
    "min_insync_replicas",
    "retention_ms",
    "cleanup_policy",
    "last_record_at_ms",
    "size_bytes",
    "under_replicated_count",
    "under_min_isr_count",
    "leaderless_count",
    "record_count",
    "records_per_second",
]
_PARTITION_FIELDS = [
    "leader",
    "leader_epoch",
    "replicas",
    "isr",
    "adding",
    "first_offset",
    "next_offset",
    "records_per_second",
    "sizes",
]
_topic_values, _partition_values = attrgetter("name", *_TOPIC_FIELDS), attrgetter("partition", *_PARTITION_FIELDS)
_BROKER_FIELDS = ["host", "port", "rack", "is_registered", "changed_at_ms", "left_at_ms"]


def ensure_state() -> ClusterState:
    return ClusterState.objects.get_or_create(name=DEFAULT_CLUSTER)[0]


def update_state(**fields: object) -> None:
    update_row(ClusterState, "name", DEFAULT_CLUSTER, **fields)


def load_topics() -> dict[str, TopicRow]:
    partitions: dict[int, list[PartitionRow]] = {}
    for partition in Partition.objects.order_by("topic_id", "partition"):
        row = PartitionRow(
            partition.partition,
            partition.leader,
            partition.leader_epoch,
            tuple(partition.replicas),
            tuple(partition.isr),
            partition.first_offset,
            partition.next_offset,
            partition.records_per_second,
            tuple((broker_id, size) for broker_id, size in partition.sizes),
            tuple(partition.adding),
        )
        partitions.setdefault(partition.topic_id, []).append(row)
    return {
        topic.name: TopicRow(
            topic.name,
            topic.topic_id,
            topic.is_internal,
            tuple(partitions.get(topic.pk, ())),
            topic.min_insync_replicas,
            topic.retention_ms,
            topic.cleanup_policy,
            topic.last_record_at_ms,
        )
        for topic in Topic.objects.all()
    }


def load_brokers() -> dict[int, BrokerRow]:
    return {
        broker.broker_id: BrokerRow(
            broker.broker_id,
            broker.host,
            broker.port,
            broker.rack,
            broker.is_registered,
            broker.changed_at_ms,
            tuple(broker.left_at_ms),
        )
        for broker in Broker.objects.all()
    }


def apply_topic_changes(changes: TopicChanges) -> dict[str, int]:
    """Return the primary keys of what was created or changed, by name."""
    with cluster_atomic():
        if changes.deleted:
            Topic.objects.filter(name__in=changes.deleted).delete()
        written = [(row, row.partitions) for row in changes.created] + changes.changed
        put_rows(Topic, ["name"], _TOPIC_FIELDS, (_topic_values(row) for row, _ in written))
        keys = keys_of(Topic, "name", [row.name for row, _ in written])
        values = (
            (keys[row.name], *_partition_values(partition)) for row, partitions in written for partition in partitions
        )
        put_rows(Partition, ["topic", "partition"], _PARTITION_FIELDS, values)
    return keys


def apply_broker_changes(changed: Iterable[BrokerRow], forgotten: Iterable[int]) -> None:
    with cluster_atomic():
        Broker.objects.filter(broker_id__in=list(forgotten)).delete()
        Broker.objects.bulk_create(
            [
                Broker(broker_id=row.broker_id, **{name: getattr(row, name) for name in _BROKER_FIELDS})
                for row in changed
            ],
            update_conflicts=True,
            unique_fields=["broker_id"],
            update_fields=_BROKER_FIELDS,
        )


def apply_replica_counts(changed: dict[int, ReplicaCounts]) -> None:
    with cluster_atomic():
        for broker_id, counts in changed.items():
            update_row(Broker, "broker_id", broker_id, **asdict(counts))
