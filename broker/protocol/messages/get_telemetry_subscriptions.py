"""GetTelemetrySubscriptions: which of its metrics a client shall push, and how often (KIP-714)."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, array, boolean, int8, int16, int32, string, uuid, wire


class GetTelemetrySubscriptionsRequest(
    Request["GetTelemetrySubscriptionsResponse"],
    api=ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
    versions=(0, 0),
    flexible_from=0,
):
    """A client that has no instance id yet gets one."""

    client_instance_id: UUID = wire(uuid)  #: all zeros in a client's first request


class GetTelemetrySubscriptionsResponse(
    Message, api=ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, versions=(0, 0), flexible_from=0
):
    """The subscription of the client. No requested metrics: it pushes none, and asks again after the interval."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    client_instance_id: UUID = wire(uuid)
    subscription_id: int = wire(int32)
    accepted_compression_types: list[int] = wire(array(int8))
    push_interval_ms: int = wire(int32)
    telemetry_max_bytes: int = wire(int32)
    delta_temporality: bool = wire(boolean)  #: sums are pushed as what was added since the last push
    requested_metrics: list[str] = wire(array(string))  #: how names begin; "*" for all
