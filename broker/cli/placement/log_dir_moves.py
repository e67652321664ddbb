"""Moves of replicas between the log directories of their brokers (KIP-113), asked of each broker for itself."""

import time
from collections.abc import Iterable

from broker.cli.frame.answers import check
from broker.cli.placement.reassignment import LogDirs
from broker.cli.placement.reassignment_states import ReplicaLocation
from broker.client.cluster import ClusterConnections
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from broker.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest

Replica = tuple[TopicPartition, int]
_PAUSE_S = 0.1


def where_replicas_lie(cluster: ClusterConnections, replicas: Iterable[Replica]) -> dict[Replica, ReplicaLocation]:
    """Return where the replicas are stored; a replica that no broker has is left out. Raises BrokerUnreachable,
    ApiNotServed.
    """
    locations: dict[Replica, ReplicaLocation] = {}
    for broker, partitions in _by_broker(replicas).items():
        topics = [DescribableLogDirTopic(topic=name, partitions=indexes) for name, indexes in partitions.items()]
        for directory in cluster.ask_broker(broker, DescribeLogDirsRequest(topics=topics)).results:
            for topic in directory.topics:
                for partition in topic.partitions:
                    replica = TopicPartition(topic.name, partition.partition_index), broker
                    lies = locations.get(replica, ReplicaLocation())
                    locations[replica] = (
                        ReplicaLocation(lies.current, directory.log_dir)
                        if partition.is_future_key
                        else ReplicaLocation(directory.log_dir, lies.future)
                    )
    return locations


def begin_moves(cluster: ClusterConnections, wanted: LogDirs) -> set[Replica]:
    """Begin the moves, and return the replicas whose move has begun.

    For a replica its broker does not have yet the directory is noted, and is told again later. Raises ApiError for
    anything else, BrokerUnreachable, ApiNotServed.
    """
    begun: set[Replica] = set()
    for broker in sorted({broker for _, broker in wanted}):
        directories: dict[str, dict[str, list[int]]] = {}
        for ((topic, index), at), path in wanted.items():
            if at == broker:
                directories.setdefault(path, {}).setdefault(topic, []).append(index)
        request = AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path=path,
                    topics=[AlterReplicaLogDirTopic(name=name, partitions=item) for name, item in topics.items()],
                )
                for path, topics in directories.items()
            ]
        )
        for result in cluster.ask_broker(broker, request).results:
            for partition in result.partitions:
                if partition.error_code == ErrorCode.REPLICA_NOT_AVAILABLE:
                    continue
                check(partition.error_code)
                begun.add((TopicPartition(result.topic_name, partition.partition_index), broker))
    return begun


def begin_all_moves(cluster: ClusterConnections, wanted: LogDirs, begun: set[Replica], timeout_ms: int) -> set[Replica]:
    """Ask again for those that have not begun, until the time is over; which have."""
    deadline = time.monotonic() + timeout_ms / 1000
    while len(begun) < len(wanted) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
        begun |= begin_moves(cluster, {item: path for item, path in wanted.items() if item not in begun})
    return begun


def _by_broker(replicas: Iterable[Replica]) -> dict[int, dict[str, list[int]]]:
    by_broker: dict[int, dict[str, list[int]]] = {}
    for (topic, index), broker in sorted(replicas):
        by_broker.setdefault(broker, {}).setdefault(topic, []).append(index)
    return by_broker
