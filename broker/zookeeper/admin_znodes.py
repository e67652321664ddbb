"""Requests that Kafka's older tools leave for the controller as one znode each. Pure."""

from collections.abc import Mapping

from broker.common.types import TopicPartition
from broker.zookeeper.errors import MalformedZnode
from broker.zookeeper.json_fields import decode_fields, encode_fields, int32, named_partition

REASSIGNMENT_REQUEST = "/admin/reassign_partitions"
ELECTION_REQUEST = "/admin/preferred_replica_election"

Targets = dict[TopicPartition, tuple[int, ...]]


def encode_reassignment_request(targets: Mapping[TopicPartition, tuple[int, ...]]) -> bytes:
    named = [
        {"topic": topic, "partition": index, "replicas": list(replicas)}
        for (topic, index), replicas in sorted(targets.items())
    ]
    return encode_fields({"version": 1, "partitions": named})


def decode_reassignment_request(data: bytes) -> Targets:
    """Return the target of each partition; the last of duplicates counts."""
    try:
        return {
            named_partition(one): tuple(int32(replica) for replica in one["replicas"])
            for one in decode_fields(REASSIGNMENT_REQUEST, data)["partitions"]
        }
    except (KeyError, ValueError, TypeError) as error:
        raise MalformedZnode(f"{REASSIGNMENT_REQUEST} names no partitions and replicas") from error


def decode_election_request(data: bytes) -> frozenset[TopicPartition]:
    try:
        return frozenset(named_partition(one) for one in decode_fields(ELECTION_REQUEST, data)["partitions"])
    except (KeyError, ValueError, TypeError) as error:
        raise MalformedZnode(f"{ELECTION_REQUEST} names no partitions") from error
