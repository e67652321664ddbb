"""GetTelemetrySubscriptions: what the client is to push, by the subscriptions that match it (KIP-714)."""

from uuid import uuid4

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import public
from broker.handlers.telemetry_request import client_instance
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from broker.protocol.schema import ZERO_UUID
from broker.records.batch import Compression
from broker.runtime.requests.context import RequestContext

#: In the order in which a client shall prefer them, as Kafka's.
_ACCEPTED = [Compression.ZSTD, Compression.LZ4, Compression.GZIP, Compression.SNAPPY]


def handle_get_telemetry_subscriptions(
    request: GetTelemetrySubscriptionsRequest, context: RequestContext
) -> GetTelemetrySubscriptionsResponse:
    telemetry = context.services.telemetry
    instance_id = request.client_instance_id
    if instance_id == ZERO_UUID:
        instance_id = uuid4()
    try:
        instance = client_instance(instance_id, context)
        instance.take_get(context.services.clock.monotonic_ms())
    except ApiError as error:
        telemetry.throttled += 1
        return GetTelemetrySubscriptionsResponse(error_code=error.code)
    instance.last_error = ErrorCode.NONE
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=[int(codec) for codec in _ACCEPTED],
        push_interval_ms=instance.interval_ms,
        telemetry_max_bytes=context.services.config.telemetry_max_bytes,
        delta_temporality=True,
        requested_metrics=list(instance.metrics),
    )


HANDLER = public(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, 0, handle_get_telemetry_subscriptions)
