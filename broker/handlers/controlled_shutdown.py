"""ControlledShutdown: a broker about to stop asks the controller to move its leaders away (KIP-380 for the epoch)."""

from broker.common.errors import ApiError
from broker.controller.events import ShutdownAsked
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
        code, remaining = await context.services.controller.ask(
            lambda request_id: ShutdownAsked(request_id, request.broker_id, request.broker_epoch), _TIMEOUT_MS
        )
    except ApiError as error:
        return ControlledShutdownResponse(error_code=error.code)
    return ControlledShutdownResponse(
        error_code=code,
        remaining_partitions=[
            RemainingPartition(topic_name=topic, partition_index=index) for topic, index in sorted(remaining)
        ],
    )


HANDLER = private(ApiKey.CONTROLLED_SHUTDOWN, 3, handle_controlled_shutdown)
