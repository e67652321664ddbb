"""UpdateMetadata: the controller says what to answer to Metadata, and thereby which replicas are no longer ours."""

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.handlers.handler import RequestContext, private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse


async def handle_update_metadata(request: UpdateMetadataRequest, context: RequestContext) -> UpdateMetadataResponse:
    try:
        await context.services.controller_epochs.check(request.controller_epoch, request.broker_epoch)
    except ApiError as error:
        return UpdateMetadataResponse(error_code=error.code)
    context.services.metadata.apply(request)
    for topic in request.topic_states:
        for state in topic.partition_states:
            where = TopicPartition(topic.topic_name, state.partition_index)
            context.services.replicas.assigned_elsewhere(where, topic.topic_id, state.leader_epoch, state.replicas)
    return UpdateMetadataResponse()


HANDLER = private(ApiKey.UPDATE_METADATA, 8, handle_update_metadata)
