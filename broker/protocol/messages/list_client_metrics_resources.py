"""ListClientMetricsResources: names of the subscriptions to client metrics (KIP-714); Kafka has it with KRaft only."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class ListClientMetricsResourcesRequest(
    Request["ListClientMetricsResourcesResponse"],
    api=ApiKey.LIST_CLIENT_METRICS_RESOURCES,
    versions=(0, 0),
    flexible_from=0,
):
    """A client asks for all of them; it names none."""


class ClientMetricsResource(Struct):
    name: str = wire(string)


class ListClientMetricsResourcesResponse(
    Message, api=ApiKey.LIST_CLIENT_METRICS_RESOURCES, versions=(0, 0), flexible_from=0
):
    """One resource for each subscription."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    client_metrics_resources: list[ClientMetricsResource] = wire(array(ClientMetricsResource))
