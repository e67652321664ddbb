"""ControlledShutdown: a broker about to stop asks the controller to move its leaders away (KIP-380 for the epoch)."""

from broker.common.errors import ApiError, InvariantViolation
from broker.controller.events import ShutdownAsked
from broker.controller.verdict import ShutdownAnswer
from broker.handlers.handler import private
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from broker.runtime.requests.context import RequestContext

#: The broker asks again after this.
_TIMEOUT_MS = 30_000


async def handle_controlled_shutdown(
    request: ControlledShutdownRequest, context: RequestContext
) -> ControlledShutdownResponse:
    try:
        answer = await context.services.controller.ask(
            lambda request_id: ShutdownAsked(request_id, request.broker_id, request.broker_epoch), _TIMEOUT_MS
        )
    except ApiError as error:
        return ControlledShutdownResponse(error_code=error.code)
    if not isinstance(answer, ShutdownAnswer):
        raise InvariantViolation("the controller answers a broker that stops as if it had asked for something else")
    return ControlledShutdownResponse(
        error_code=answer.code,
        remaining_partitions=[
            RemainingPartition(topic_name=topic, partition_index=index) for topic, index in sorted(answer.remaining)
        ],
    )


HANDLER = private(ApiKey.CONTROLLED_SHUTDOWN, 3, handle_controlled_shutdown)
