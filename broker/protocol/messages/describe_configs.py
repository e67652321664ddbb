"""DescribeConfigs: the configuration of topics and brokers, and where each value comes from."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, string, wire


class DescribeConfigsResource(Struct):
    resource_type: int = wire(int8)  #: 2 topic, 4 broker, 8 broker logger
    resource_name: str = wire(string)
    configuration_keys: list[str] | None = wire(array(string), nullable=True)  #: null for all


class DescribeConfigsRequest(
    Request["DescribeConfigsResponse"], api=ApiKey.DESCRIBE_CONFIGS, versions=(0, 4), flexible_from=4
):
    """1: synonyms (KIP-226). 3: types and documentation (KIP-569)."""

    resources: list[DescribeConfigsResource] = wire(array(DescribeConfigsResource))
    include_synonyms: bool = wire(boolean, since=1)
    include_documentation: bool = wire(boolean, since=3)


class DescribeConfigsSynonym(Struct):
    name: str = wire(string)
    value: str | None = wire(string, nullable=True)
    source: int = wire(int8)


class DescribeConfigsResourceResult(Struct):
    name: str = wire(string)
    value: str | None = wire(string, nullable=True)  #: null when sensitive
    read_only: bool = wire(boolean)
    is_default: bool = wire(boolean, until=0)
    #: 1 topic, 2 one broker, 3 all brokers (dynamic), 4 the broker's file, 5 default, 6 logger.
    config_source: int = wire(int8, since=1, default=-1, ignorable=True)
    is_sensitive: bool = wire(boolean)
    synonyms: list[DescribeConfigsSynonym] = wire(array(DescribeConfigsSynonym), since=1, ignorable=True)
    config_type: int = wire(int8, since=3, ignorable=True)  #: 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double …
    documentation: str | None = wire(string, since=3, nullable=True, ignorable=True)


class DescribeConfigsResult(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    resource_type: int = wire(int8)
    resource_name: str = wire(string)
    configs: list[DescribeConfigsResourceResult] = wire(array(DescribeConfigsResourceResult))


class DescribeConfigsResponse(Message, api=ApiKey.DESCRIBE_CONFIGS, versions=(0, 4), flexible_from=4):
    """One result for each resource. 1: source and synonyms instead of is_default. 3: type and documentation."""

    throttle_time_ms: int = wire(int32)
    results: list[DescribeConfigsResult] = wire(array(DescribeConfigsResult))
