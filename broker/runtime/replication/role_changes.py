"""What LeaderAndIsr and StopReplica ask for, of thousands of partitions at once: in turns, so that others have theirs,
and with the file work each needs before or after it.

All of it is for who holds `ReplicaManager.taking_roles`: what comes later finds what came before as it has become.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PARTITIONS_PER_CALLBACK
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import NewLog
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.topic_names import note_outcome

T = TypeVar("T")


class StoppedPartition(NamedTuple):
    """What StopReplica says of one partition."""

    topic_partition: TopicPartition
    is_deletion: bool
    leader_epoch: int


async def create_logs(replicas: ReplicaManager, request: LeaderAndIsrRequest) -> None:
    """Make the logs of partitions that are new here: a slow disk must stall nobody else.

    One that cannot be made is tried again, and the failure answered, when its role is applied.
    """
    for topic, state in _states_in(request):
        replicas.logs.release_if_led_elsewhere(_name(topic, state), state)
    await replicas.logs.create(
        [
            NewLog(_name(topic, state), topic.topic_id, state.is_new)
            for topic, state in _states_in(request)
            if topic.topic_id != NO_TOPIC_ID and not _is_hosted(replicas, topic, state)
        ]
    )


def topics_new_here(replicas: ReplicaManager, request: LeaderAndIsrRequest) -> set[str]:
    """Return the topics with partitions that are not hosted yet."""
    return {topic.topic_name for topic, state in _states_in(request) if not _is_hosted(replicas, topic, state)}


async def take_roles(
    replicas: ReplicaManager, request: LeaderAndIsrRequest, configs: Mapping[str, LogConfig]
) -> dict[UUID, dict[int, ErrorCode]]:
    """Apply the roles of one request, a few at a time; a truncating log takes its role afterwards.

    The outcome of each partition is by topic id, see `note_outcome`. `configs` are by topic, for partitions that were
    not hosted before: they serve nobody under another one.

    Raises ApiError when another controller has spoken meanwhile; what was taken by then stays, its epochs tell.
    """
    cuts = replicas.logs.cuts
    hanging = await cuts.ended([_name(topic, state) for topic, state in _states_in(request)])
    outcomes: dict[UUID, dict[int, ErrorCode]] = {topic.topic_id: {} for topic in request.topic_states}
    async for topic, state in _paced(_states_in(request)):
        if _name(topic, state) not in hanging:
            await cuts.ended([_name(topic, state)])
        replicas.check_controller(request.controller_epoch, request.broker_epoch)
        note_outcome(outcomes, topic.topic_id, state.partition_index, replicas.apply_role(topic, state, configs))
    replicas.told_epoch = request.broker_epoch
    return outcomes


async def stop_replicas(replicas: ReplicaManager, stops: Sequence[StoppedPartition]) -> dict[TopicPartition, ErrorCode]:
    """Stop the replicas as `ReplicaManager.stop_replica`, delete those to be deleted, and return each outcome."""
    outcomes, to_delete = {}, []
    async for stop in _paced(stops):
        code = outcomes[stop.topic_partition] = _stop(replicas, stop)
        if stop.is_deletion and code is ErrorCode.NONE:
            to_delete.append(stop.topic_partition)
    refused = await replicas.logs.delete_all(to_delete)
    return outcomes | {topic_partition: error.code for topic_partition, error in refused.items()}


def _stop(replicas: ReplicaManager, stop: StoppedPartition) -> ErrorCode:
    try:
        replicas.stop_replica(stop.topic_partition, delete=stop.is_deletion, leader_epoch=stop.leader_epoch)
    except ApiError as error:
        return error.code
    return ErrorCode.NONE


def _states_in(
    request: LeaderAndIsrRequest,
) -> Iterator[tuple[LeaderAndIsrTopicState, LeaderAndIsrPartitionState]]:
    return ((topic, state) for topic in request.topic_states for state in topic.partition_states)


def _name(topic: LeaderAndIsrTopicState, state: LeaderAndIsrPartitionState) -> TopicPartition:
    return TopicPartition(topic.topic_name, state.partition_index)


def _is_hosted(replicas: ReplicaManager, topic: LeaderAndIsrTopicState, state: LeaderAndIsrPartitionState) -> bool:
    return replicas.get(topic.topic_name, state.partition_index) is not None


async def _paced(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield the items, PARTITIONS_PER_CALLBACK of them in one pass of the loop."""
    for number, item in enumerate(items, start=1):
        yield item
        if number % PARTITIONS_PER_CALLBACK == 0:
            await asyncio.sleep(0)
