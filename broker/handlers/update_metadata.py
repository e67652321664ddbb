"""UpdateMetadata: the controller says what to answer to Metadata, and thereby which replicas are no longer ours.

Of a topic whose znode somebody removed by hand it says this alone, that it goes; StopReplica is for those it deletes.
"""

from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import BROKERS_MAX, LISTENERS_MAX
from broker.common.types import TopicPartition, may_be_same_topic
from broker.handlers.handler import private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    UpdateMetadataTopicState,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.metadata_cache import LEADER_DURING_DELETE
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.requests.context import RequestContext


async def handle_update_metadata(request: UpdateMetadataRequest, context: RequestContext) -> UpdateMetadataResponse:
    services = context.services

    async def take() -> None:
        # Another controller may have spoken while others were listened to.
        services.replicas.check_controller(request.controller_epoch, request.broker_epoch)
        await in_turns(services.metadata.apply(request), lambda _: None, services.turns)
        pairs = ((topic, state) for topic in request.topic_states for state in topic.partition_states)
        await in_turns(pairs, assigned, services.turns)

    def assigned(pair: tuple[UpdateMetadataTopicState, UpdateMetadataPartitionState]) -> None:
        topic, state = pair
        where = TopicPartition(topic.topic_name, state.partition_index)
        if state.leader == LEADER_DURING_DELETE:
            _let_go(services.replicas, where, topic.topic_id)
        else:
            services.replicas.assigned_elsewhere(where, topic.topic_id, state.leader_epoch, state.replicas)

    try:
        _check_brokers(request)
        await services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
        await services.metadata.changes.to_the_end(take)
    except ApiError as error:
        return UpdateMetadataResponse(error_code=error.code)
    return UpdateMetadataResponse()


def _let_go(replicas: ReplicaManager, partition: TopicPartition, topic_id: UUID) -> None:
    """Stop a replica whose partition has no leader any more. Its files stay, for StopReplica, or until another topic of
    the name needs their place.
    """
    hosted = replicas.get(*partition)
    if hosted is None or may_be_same_topic(hosted.topic_id, topic_id):
        replicas.stop_replica(partition, delete=True)


def _check_brokers(request: UpdateMetadataRequest) -> None:
    """Refuse too many brokers: every client is sent all of them in every Metadata response, and only a faulty member
    names more.
    """
    brokers = request.live_brokers
    if len(brokers) > BROKERS_MAX or any(len(broker.endpoints) > LISTENERS_MAX for broker in brokers):
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"more than {BROKERS_MAX} brokers, or {LISTENERS_MAX} listeners of one"
        )


HANDLER = private(ApiKey.UPDATE_METADATA, 8, handle_update_metadata)
