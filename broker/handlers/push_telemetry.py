"""PushTelemetry: take a client's metrics, if they are due, and of its subscription (KIP-714)."""

from broker.common.errors import ApiError, ErrorCode, ProtocolError
from broker.common.telemetry_limits import TELEMETRY_DECOMPRESSED_BYTES_MAX
from broker.handlers.handler import public
from broker.handlers.telemetry_request import client_instance
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from broker.protocol.otlp import read_metrics
from broker.protocol.schema import ZERO_UUID
from broker.records.batch import Compression
from broker.records.compression import decompress
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.runtime.telemetry.client_instances import ClientInstance


async def handle_push_telemetry(request: PushTelemetryRequest, context: RequestContext) -> PushTelemetryResponse:
    telemetry = context.services.telemetry
    if request.client_instance_id == ZERO_UUID:
        return PushTelemetryResponse(error_code=ErrorCode.INVALID_REQUEST)
    try:
        instance = client_instance(request.client_instance_id, context)
    except ApiError as error:
        telemetry.throttled += 1
        return PushTelemetryResponse(error_code=error.code)
    try:
        _check(request, instance, context)
        await _take(request, instance, context)
    except ApiError as error:
        instance.last_error = error.code
        telemetry.throttled += error.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
        telemetry.unknown_subscriptions += error.code is ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        telemetry.unreadable += error.code is ErrorCode.INVALID_RECORD
        return PushTelemetryResponse(error_code=error.code)
    finally:
        instance.is_terminating = request.terminating
    instance.last_error = ErrorCode.NONE
    telemetry.pushes += 1
    return PushTelemetryResponse()


def _check(request: PushTelemetryRequest, instance: ClientInstance, context: RequestContext) -> None:
    instance.take_push(context.services.clock.monotonic_ms(), is_last=request.terminating)
    if request.subscription_id != instance.subscription_id:
        raise ApiError(ErrorCode.UNKNOWN_SUBSCRIPTION_ID)
    if request.compression_type not in set(Compression):
        raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    if len(request.metrics) > context.services.config.telemetry_max_bytes:
        raise ApiError(ErrorCode.TELEMETRY_TOO_LARGE)


async def _take(request: PushTelemetryRequest, instance: ClientInstance, context: RequestContext) -> None:
    """Read the metrics in turns. Raises ApiError INVALID_RECORD for what cannot be read, as Kafka's receivers do."""
    if not request.metrics:
        return
    services = context.services
    try:
        data = decompress(Compression(request.compression_type), request.metrics, TELEMETRY_DECOMPRESSED_BYTES_MAX)
        points = read_metrics(data)
        taken = services.telemetry.pushed.take(instance, points, services.clock.monotonic_ms())
        await in_turns(taken, lambda _: None, services.turns)
    except (ApiError, ProtocolError) as error:
        raise ApiError(ErrorCode.INVALID_RECORD) from error


HANDLER = public(ApiKey.PUSH_TELEMETRY, 0, 0, handle_push_telemetry)
