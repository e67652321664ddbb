"""InitProducerId: an id for an idempotent producer; transactional ids are refused."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


async def handle_init_producer_id(request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    """A producer that knows its id and asks again (KIP-360) gets a new id: its state starts afresh either way."""
    if request.transactional_id is not None:
        return InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    try:
        producer_id = await context.services.producer_ids.next_id()
    except ApiError as error:
        return InitProducerIdResponse(error_code=error.code)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


HANDLER = public(ApiKey.INIT_PRODUCER_ID, 0, 5, handle_init_producer_id)
