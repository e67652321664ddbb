"""PushTelemetry: a client's metrics as OpenTelemetry's MetricsData (KIP-714)."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, boolean, bytes_, int8, int16, int32, uuid, wire


class PushTelemetryRequest(
    Request["PushTelemetryResponse"], api=ApiKey.PUSH_TELEMETRY, versions=(0, 0), flexible_from=0
):
    """What a client measured since its last push."""

    client_instance_id: UUID = wire(uuid)
    subscription_id: int = wire(int32)
    terminating: bool = wire(boolean)  #: its last one
    compression_type: int = wire(int8)  #: as of record batches
    metrics: Buffer = wire(bytes_)


class PushTelemetryResponse(Message, api=ApiKey.PUSH_TELEMETRY, versions=(0, 0), flexible_from=0):
    """Whether they were taken."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
