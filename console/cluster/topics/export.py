"""Topics and partitions as rows of a file."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from console.cluster.topics.queries import with_groups
from console.kit.access.reach import Reach
from console.kit.common.clock import utc
from console.state.clusters.models import Partition, Topic

#: Groups are counted for so many topics at one time.
_TOPICS_PER_QUESTION = 500

TOPIC_TITLES = (
    "topic",
    "internal",
    "partitions",
    "replication_factor",
    "min_insync_replicas",
    "under_replicated",
    "below_min_isr",
    "without_leader",
    "records",
    "records_in_per_second",
    "records_out_per_second",
    "bytes_on_disk",
    "bytes_grown_in_24_hours",
    "last_record_seen",
    "groups",
    "lag_records",
    "retention_ms",
    "cleanup_policy",
    "owner",
    "labels",
)
PARTITION_TITLES = (
    "topic",
    "partition",
    "leader",
    "preferred_leader",
    "leader_epoch",
    "replicas",
    "isr",
    "state",
    "first_offset",
    "next_offset",
    "records_in_per_second",
    "replica_bytes",
)


def topic_rows(topics: Iterable[Topic], reach: Reach) -> Iterator[tuple[object, ...]]:
    for topic in chain.from_iterable(with_groups(batch, reach) for batch in _batches(topics)):
        yield (
            topic.name,
            topic.is_internal,
            topic.partition_count,
            topic.replication_factor,
            topic.min_insync_replicas,
            topic.under_replicated_count,
            topic.under_min_isr_count,
            topic.leaderless_count,
            topic.record_count,
            topic.records_per_second,
            topic.read_per_second,
            topic.size_bytes,
            topic.day_growth_bytes,
            utc(topic.last_record_at_ms) or topic.last_record_at_ms if topic.last_record_at_ms else None,
            topic.group_count,
            topic.lag,
            topic.retention_ms,
            topic.cleanup_policy,
            topic.owner,
            topic.labels,
        )


def _batches(topics: Iterable[Topic]) -> Iterator[list[Topic]]:
    waiting = iter(topics)
    while batch := list(islice(waiting, _TOPICS_PER_QUESTION)):
        yield batch


def partition_rows(partitions: Iterable[Partition]) -> Iterator[tuple[object, ...]]:
    """Yield rows of partitions; `replica_bytes` is broker:bytes of each replica that was reported."""
    for partition in partitions:
        yield (
            partition.topic.name,
            partition.partition,
            partition.leader,
            partition.preferred_leader,
            partition.leader_epoch,
            partition.replicas,
            partition.isr,
            partition.isr_state,
            partition.first_offset,
            partition.next_offset,
            partition.records_per_second,
            [f"{broker_id}:{size}" for broker_id, size in partition.sizes],
        )
