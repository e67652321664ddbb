"""What a topic is like at the moment: its size, what is written to it, and where it lies; the start of a plan."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from broker.cli.frame.answers import check
from broker.client.cluster import ClusterConnections
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP

_TOPIC, _BROKER = 2, 4


@dataclass(frozen=True, slots=True)
class TopicSample:
    """A topic's size and rate at one moment, by the largest replica of each partition."""

    at_s: float
    sizes: Mapping[TopicPartition, int]
    log_ends: Mapping[TopicPartition, int]
    log_starts: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class Directories:
    """Log directories of all live brokers."""

    brokers: int
    #: Of the broker that has fewest.
    per_broker: int
    #: Left on the fullest; None where brokers do not say (before Kafka 3.3).
    usable_bytes: int | None


def rate_between(before: TopicSample, after: TopicSample) -> float:
    """Return the bytes written per second. Where a partition shrank by retention, its new records times their mean size
    count; a new partition counts nothing.
    """
    written = 0.0
    for partition, end in after.log_ends.items():
        if partition not in before.log_ends:
            continue
        grown = after.sizes.get(partition, 0) - before.sizes.get(partition, 0)
        records = end - before.log_ends[partition]
        held = before.log_ends[partition] - before.log_starts.get(partition, 0)
        per_record = before.sizes.get(partition, 0) / max(1, held)
        written += grown if grown >= 0 else records * per_record
    return written / max(after.at_s - before.at_s, 0.001)


def look(cluster: ClusterConnections, topic: str) -> TopicSample:
    """Raises ApiError(UNKNOWN_TOPIC_OR_PARTITION), BrokerUnreachable, ApiNotServed."""
    leaders = Leaders(cluster)
    partitions = leaders.partitions(topic)
    log_ends = list_offsets(leaders, dict.fromkeys(partitions, LATEST_TIMESTAMP))
    log_starts = list_offsets(leaders, dict.fromkeys(partitions, EARLIEST_TIMESTAMP))
    sizes: dict[TopicPartition, int] = {}
    for broker in cluster.brokers():
        for directory in cluster.ask_broker(broker, DescribeLogDirsRequest(topics=None)).results:
            for log_dir_topic in directory.topics:
                for dirs_partition in log_dir_topic.partitions if log_dir_topic.name == topic else ():
                    partition = TopicPartition(topic, dirs_partition.partition_index)
                    sizes[partition] = max(sizes.get(partition, 0), dirs_partition.partition_size)
    return TopicSample(time.monotonic(), sizes, log_ends, log_starts)


def directories(cluster: ClusterConnections) -> Directories:
    counts, usable = [], []
    for broker in cluster.brokers():
        results = cluster.ask_broker(broker, DescribeLogDirsRequest(topics=[])).results
        counts.append(len(results))
        usable += [
            directory.usable_bytes for directory in results if not directory.error_code and directory.usable_bytes >= 0
        ]
    return Directories(len(counts), min(counts), min(usable, default=None))


def leaders_per_broker(cluster: ClusterConnections, but_of: str | None) -> int:
    """Return the partitions that the busiest broker leads, without those of one topic."""
    counts: dict[int, int] = {}
    for topic in cluster.describe_topics(None).topics:
        for partition in topic.partitions if topic.name != but_of else ():
            counts[partition.leader_id] = counts.get(partition.leader_id, 0) + 1
    return max(counts.values(), default=0)


def settings(cluster: ClusterConnections, topic: str | None) -> dict[str, str]:
    """Return the settings of the topic, or a broker's defaults for a topic to be created.

    Raises ApiError, BrokerUnreachable.
    """
    name = topic or str(min(cluster.brokers()))
    kind = _TOPIC if topic else _BROKER
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    request = DescribeConfigsRequest(resources=[resource])
    answer = cluster.ask_any(request) if topic else cluster.ask_broker(int(name), request)
    (result,) = answer.results
    check(result.error_code, result.error_message)
    return {config.name: config.value for config in result.configs if config.value is not None}


def is_there(cluster: ClusterConnections, topic: str) -> int | None:
    """Return the topic's replication factor; None if there is no such topic."""
    (described,) = cluster.describe_topics([topic]).topics
    if described.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return None
    if described.error_code:
        code = error_code_of(described.error_code)
        raise ApiError(code, f"{topic}: {code.meaning}")
    return max((len(partition.replica_nodes) for partition in described.partitions), default=1)
