"""Whom to ask instead of this broker, told with the refusal so that a client need not ask for metadata (KIP-951)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.runtime.requests.context import RequestContext


class LeaderHint(NamedTuple):
    leader_id: int
    leader_epoch: int


class NodeAddress(NamedTuple):
    node_id: int
    host: str
    port: int
    rack: str | None


def refusal(error: ApiError, topic_partition: TopicPartition, context: RequestContext) -> ErrorCode:
    """Return the error code for the client: a partition that is not here may be on another broker."""
    if error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and context.services.metadata.partition_of(*topic_partition):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error.code


def current_leader(topic_partition: TopicPartition, context: RequestContext) -> LeaderHint | None:
    """Return leader and epoch as this broker's replica knows them, or, without one, as its metadata does; None if
    neither.
    """
    hosted = context.services.replicas.get(*topic_partition)
    known = hosted.partition.state if hosted else context.services.metadata.partition_of(*topic_partition)
    return LeaderHint(known.leader, known.leader_epoch) if known and known.leader >= 0 else None


def addresses(leader_ids: Iterable[int], context: RequestContext) -> Iterator[NodeAddress]:
    """Yield the addresses of live brokers on the listener of the request; each once."""
    brokers = context.services.metadata.brokers
    for broker_id in sorted(set(leader_ids) & brokers.keys()):
        broker = brokers[broker_id]
        if context.session.listener in broker.endpoints:
            yield NodeAddress(broker_id, *broker.endpoints[context.session.listener], broker.rack)
