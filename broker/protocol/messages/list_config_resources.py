"""ListConfigResources: names of the resources that can have a configuration (KIP-714, KIP-1142)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class ListConfigResourcesRequest(
    Request["ListConfigResourcesResponse"],
    api=ApiKey.LIST_CONFIG_RESOURCES,
    versions=(0, 1),
    flexible_from=0,
):
    """Names of the types that a client asks for. 0: subscriptions to client metrics only."""

    resource_types: list[int] = wire(array(int8), since=1, ignorable=True)  #: empty for all that are served


class ConfigResource(Struct):
    resource_name: str = wire(string)
    resource_type: int = wire(int8, since=1, default=16, ignorable=True)


class ListConfigResourcesResponse(Message, api=ApiKey.LIST_CONFIG_RESOURCES, versions=(0, 1), flexible_from=0):
    """One entry for each resource of these types."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    config_resources: list[ConfigResource] = wire(array(ConfigResource))
