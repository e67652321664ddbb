"""AlterConfigs: replace the whole dynamic configuration of topics or brokers. IncrementalAlterConfigs supersedes it."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, string, wire


class AlterableConfig(Struct):
    name: str = wire(string)
    value: str | None = wire(string, nullable=True, secret=True)  #: may be a password


class AlterConfigsResource(Struct):
    resource_type: int = wire(int8)  #: 2 topic, 4 broker
    resource_name: str = wire(string)  #: a broker's is its id; empty for the default of all brokers
    configs: list[AlterableConfig] = wire(array(AlterableConfig))  #: what is not named goes back to its default


class AlterConfigsRequest(Request["AlterConfigsResponse"], api=ApiKey.ALTER_CONFIGS, versions=(0, 2), flexible_from=2):
    """Replace the configuration of some resources, each succeeding or failing alone."""

    resources: list[AlterConfigsResource] = wire(array(AlterConfigsResource))
    validate_only: bool = wire(boolean)


class AlterConfigsResourceResponse(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    resource_type: int = wire(int8)
    resource_name: str = wire(string)


class AlterConfigsResponse(Message, api=ApiKey.ALTER_CONFIGS, versions=(0, 2), flexible_from=2):
    """One result for each resource."""

    throttle_time_ms: int = wire(int32)
    responses: list[AlterConfigsResourceResponse] = wire(array(AlterConfigsResourceResponse))
