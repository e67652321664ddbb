"""IncrementalAlterConfigs: change single values in the dynamic configuration of topics or brokers (KIP-339)."""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, string, wire


class ConfigOperation(IntEnum):
    """Values of `config_operation`."""

    SET = 0
    #: Back to the default.
    DELETE = 1
    #: Add to a value that is a list.
    APPEND = 2
    #: Take out of a value that is a list.
    SUBTRACT = 3


class AlterableConfig(Struct):
    name: str = wire(string)
    config_operation: int = wire(int8)  #: a ConfigOperation
    value: str | None = wire(string, nullable=True, secret=True)  #: null to delete; may be a password


class AlterConfigsResource(Struct):
    resource_type: int = wire(int8)  #: 2 topic, 4 broker, 8 broker logger
    resource_name: str = wire(string)  #: a broker's is its id; empty for the default of all brokers
    configs: list[AlterableConfig] = wire(array(AlterableConfig))  #: what is not named stays as it is


class IncrementalAlterConfigsRequest(
    Request["IncrementalAlterConfigsResponse"], api=ApiKey.INCREMENTAL_ALTER_CONFIGS, versions=(0, 1), flexible_from=1
):
    """Change the configuration of some resources, each succeeding or failing alone."""

    resources: list[AlterConfigsResource] = wire(array(AlterConfigsResource))
    validate_only: bool = wire(boolean)


class AlterConfigsResourceResponse(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    resource_type: int = wire(int8)
    resource_name: str = wire(string)


class IncrementalAlterConfigsResponse(Message, api=ApiKey.INCREMENTAL_ALTER_CONFIGS, versions=(0, 1), flexible_from=1):
    """One result for each resource."""

    throttle_time_ms: int = wire(int32)
    responses: list[AlterConfigsResourceResponse] = wire(array(AlterConfigsResourceResponse))
