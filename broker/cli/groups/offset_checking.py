"""What ConsumerOffsetChecker of Kafka 0.8 to 0.11 prints, from offsets in Kafka and in ZooKeeper. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from broker.common.types import TopicPartition

_FORMAT = "{:<15} {:<30} {:<3} {:<15} {:<15} {:<15} {}"
HEAD = _FORMAT.format("Group", "Topic", "Pid", "Offset", "logSize", "Lag", "Owner")


@dataclass(frozen=True)
class OldGroup:
    """A group of the consumer of Kafka 0.8, which kept its offsets in ZooKeeper."""

    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    #: Consumer and thread that read a partition.
    owners: Mapping[TopicPartition, str] = field(default_factory=dict)


def checked_lines(
    group: str,
    partitions: Iterable[TopicPartition],
    offsets: Mapping[TopicPartition, int],
    log_ends: Mapping[TopicPartition, int],
    owners: Mapping[TopicPartition, str],
) -> list[str]:
    """Return lines of checked partitions; one without a log end has no leader."""
    return [HEAD, *(_line(group, partition, offsets, log_ends, owners) for partition in sorted(partitions))]


def _line(
    group: str,
    partition: TopicPartition,
    offsets: Mapping[TopicPartition, int],
    log_ends: Mapping[TopicPartition, int],
    owners: Mapping[TopicPartition, str],
) -> str:
    topic, number = partition
    if partition not in log_ends:
        return f"No broker for partition {topic} - {number}"
    offset, end = offsets.get(partition), log_ends[partition]
    known = ("unknown", "unknown") if offset is None else (offset, end - offset)
    return _FORMAT.format(group, topic, number, known[0], end, known[1], owners.get(partition, "none"))
