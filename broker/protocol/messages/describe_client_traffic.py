"""DescribeClientTraffic: which clients write and read which topics on a broker, and how fast.

An API of this broker alone, for consoles: Kafka's brokers tell no client of others, nor do their metrics name topics
and clients together.
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, float64, int8, int16, int32, int64, string, wire


class DescribeClientTrafficRequest(
    Request["DescribeClientTrafficResponse"], api=ApiKey.DESCRIBE_CLIENT_TRAFFIC, versions=(0, 0), flexible_from=0
):
    """Each broker answers for itself."""


class DescribeClientTrafficTopic(Struct):
    """What a client has written to a topic, or read of it, since it was met first."""

    name: str = wire(string)
    direction: int = wire(int8)  #: 0: produced, 1: fetched
    records: int = wire(int64)  #: by offsets
    bytes_count: int = wire(int64)  #: of record batches, as they are on the wire
    records_per_second: float = wire(float64)  #: over the last one to two windows
    bytes_per_second: float = wire(float64)
    idle_ms: int = wire(int64)  #: since it was used last; 0: within the window under way


class DescribeClientTrafficClient(Struct):
    """All that one client does here; those with the same five names are one."""

    principal: str = wire(string)  #: Kafka's; empty: all clients beyond those that are counted one by one
    client_id: str = wire(string)
    host: str = wire(string)  #: the address its connections come from
    software_name: str = wire(string)  #: of its library, as in ApiVersions (KIP-511); empty: it did not say
    software_version: str = wire(string)
    topics: list[DescribeClientTrafficTopic] = wire(array(DescribeClientTrafficTopic))


class DescribeClientTrafficResponse(Message, api=ApiKey.DESCRIBE_CLIENT_TRAFFIC, versions=(0, 0), flexible_from=0):
    """Clients that have written or read within `kept_ms`."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    window_ms: int = wire(int32)
    kept_ms: int = wire(int32)
    clients: list[DescribeClientTrafficClient] = wire(array(DescribeClientTrafficClient))
