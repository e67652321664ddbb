"""ListConfigResources: names of the subscriptions to client metrics (KIP-714, KIP-1142); Kafka has it with KRaft only.

Version 1 lists other types of resources as well, which nothing here asks for.
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class ListConfigResourcesRequest(
    Request["ListConfigResourcesResponse"],
    api=ApiKey.LIST_CONFIG_RESOURCES,
    versions=(0, 0),
    flexible_from=0,
):
    """A client asks for all of them; it names none."""


class ConfigResource(Struct):
    resource_name: str = wire(string)


class ListConfigResourcesResponse(Message, api=ApiKey.LIST_CONFIG_RESOURCES, versions=(0, 0), flexible_from=0):
    """One resource for each subscription."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    config_resources: list[ConfigResource] = wire(array(ConfigResource))
