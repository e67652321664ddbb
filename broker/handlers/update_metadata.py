"""UpdateMetadata: the controller says what to answer to Metadata."""

from broker.common.errors import ApiError
from broker.handlers.handler import RequestContext, private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse


def handle_update_metadata(request: UpdateMetadataRequest, context: RequestContext) -> UpdateMetadataResponse:
    try:
        context.services.replicas.check_controller(request.controller_epoch, request.broker_epoch)
    except ApiError as error:
        return UpdateMetadataResponse(error_code=error.code)
    context.services.metadata.apply(request)
    return UpdateMetadataResponse()


HANDLER = private(ApiKey.UPDATE_METADATA, 8, handle_update_metadata)
