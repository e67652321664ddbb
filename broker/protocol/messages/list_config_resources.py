"""ListConfigResources: names of what has a configuration, by type (KIP-1142); before, of client metrics (KIP-714)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class ListConfigResourcesRequest(
    Request["ListConfigResourcesResponse"],
    api=ApiKey.LIST_CONFIG_RESOURCES,
    versions=(0, 1),
    flexible_from=0,
):
    resource_types: list[int] = wire(array(int8), since=1, default=())  #: none for all there are


class ConfigResource(Struct):
    resource_name: str = wire(string)
    resource_type: int = wire(int8, since=1, default=16)


class ListConfigResourcesResponse(Message, api=ApiKey.LIST_CONFIG_RESOURCES, versions=(0, 1), flexible_from=0):
    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    config_resources: list[ConfigResource] = wire(array(ConfigResource))
