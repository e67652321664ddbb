"""DescribeRequests: how many requests of each kind a broker has answered, and how long that took.

An API of this broker alone, for consoles: Kafka tells the same by JMX, which is no door of this broker.
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, float64, int8, int16, int32, int64, string, wire


class DescribeRequestsRequest(
    Request["DescribeRequestsResponse"], api=ApiKey.DESCRIBE_REQUESTS, versions=(0, 5), flexible_from=0
):
    """Each broker answers for itself."""


class DescribeRequestsBucket(Struct):
    up_to_us: int = wire(int64)  #: no answer in it took longer
    count: int = wire(int64)


class DescribeRequestsError(Struct):
    code: int = wire(int16)
    count: int = wire(int64)


class DescribeRequestsResult(Struct):
    """One API. The time of a request is from where its frame was taken up until its answer was handed to the socket."""

    api_key: int = wire(int16)
    count: int = wire(int64)
    error_count: int = wire(int64)  #: answers with an error in them, perhaps for one partition of many
    max_us: int = wire(int64)
    buckets: list[DescribeRequestsBucket] = wire(array(DescribeRequestsBucket))  #: not empty ones, ascending
    #: Answers by the first error in them; together they are `error_count`.
    errors: list[DescribeRequestsError] = wire(array(DescribeRequestsError), tag=0)


class DescribeRequestsQuotaUse(Struct):
    """Those who share a quota on this broker: what they have used lately beside what they may, in its own unit."""

    key: str = wire(string)  #: "producer_byte_rate" …
    user: str = wire(string)  #: empty: whoever it is
    client_id: str = wire(string)  #: empty: whatever it says
    limit: float = wire(float64)
    rate: float = wire(float64)
    throttled_ms: int = wire(int64)  #: all that was to be waited, since they were first seen
    ip: str = wire(string, tag=0)  #: of connection_creation_rate: the address; user and client id are empty


class DescribeRequestsDenials(Struct):
    """What one principal was denied here since the broker started, and what it was the last time."""

    principal: str = wire(string)  #: "others" for those beyond the hundred that are counted one by one
    count: int = wire(int64)
    last_at_ms: int = wire(int64)
    last_principal: str = wire(string)
    last_host: str = wire(string)
    last_operation: int = wire(int8)  #: an Operation
    last_resource_type: int = wire(int8)  #: a ResourceType
    last_resource_name: str = wire(string)


class DescribeRequestsOwner(Struct):
    """A client that takes from a bound that all clients share, by principal and address."""

    principal: str = wire(string)
    host: str = wire(string)  #: its address after a slash, or the IPv6 network that is counted as one
    held: int = wire(int64)
    refused: int = wire(int64)  #: no longer counted by client: 0


class DescribeRequestsBudget(Struct):
    """A bound of this broker that all clients share, what is held of it, and the client that holds the most."""

    name: str = wire(string)  #: "members", "group offsets", "transactional ids" …
    size: int = wire(int64)
    held: int = wire(int64)
    refused: int = wire(int64)
    refused_ms_ago: int = wire(int64)  #: when a client was refused last; -1: never
    #: Empty if no client is known to hold anything; else the one that holds the most comes first.
    owners: list[DescribeRequestsOwner] = wire(array(DescribeRequestsOwner), until=4, ignorable=True)
    #: The client that holds the most, as in `owners`; empty: unknown.
    principal: str = wire(string, since=5, ignorable=True)
    host: str = wire(string, since=5, ignorable=True)
    held_by_client: int = wire(int64, since=5, ignorable=True)  #: 0: no client is known to hold anything


class DescribeRequestsUncleanable(Struct):
    """A partition that this broker compacts no more since a pass of the cleaner failed."""

    topic: str = wire(string)
    partition: int = wire(int32)
    reason: str = wire(string)


class DescribeRequestsResponse(Message, api=ApiKey.DESCRIBE_REQUESTS, versions=(0, 5), flexible_from=0):
    """One result for each API that has been answered since the broker started."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    results: list[DescribeRequestsResult] = wire(array(DescribeRequestsResult))
    group_coordinators_not_loaded: int = wire(int32, since=1, ignorable=True)  #: partitions led here, see their metric
    transaction_coordinators_not_loaded: int = wire(int32, since=1, ignorable=True)
    #: The hundred clients nearest to their limits, and the hundred addresses.
    quota_uses: list[DescribeRequestsQuotaUse] = wire(array(DescribeRequestsQuotaUse), since=2, ignorable=True)
    denials: list[DescribeRequestsDenials] = wire(array(DescribeRequestsDenials), since=3, ignorable=True)
    #: Brokers of another Kafka registered in this ensemble, as the controller says; others know of none.
    foreign_brokers: list[int] = wire(array(int32), tag=0)
    #: The first hundred, by name.
    uncleanable: list[DescribeRequestsUncleanable] = wire(array(DescribeRequestsUncleanable), tag=1)
    budgets: list[DescribeRequestsBudget] = wire(array(DescribeRequestsBudget), since=4, ignorable=True)
