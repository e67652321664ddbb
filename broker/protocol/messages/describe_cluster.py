"""DescribeCluster: the cluster's id, controller and brokers, without topics (KIP-700)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, string, wire


class DescribeClusterRequest(
    Request["DescribeClusterResponse"], api=ApiKey.DESCRIBE_CLUSTER, versions=(0, 2), flexible_from=0
):
    """1: brokers or controllers (KIP-919). 2: fenced brokers as well (KIP-1073)."""

    include_cluster_authorized_operations: bool = wire(boolean)
    endpoint_type: int = wire(int8, since=1, default=1)  #: 1 brokers, 2 controllers
    include_fenced_brokers: bool = wire(boolean, since=2)


class DescribeClusterBroker(Struct):
    broker_id: int = wire(int32)
    host: str = wire(string)
    port: int = wire(int32)
    rack: str | None = wire(string, nullable=True, default=None)
    is_fenced: bool = wire(boolean, since=2)


class DescribeClusterResponse(Message, api=ApiKey.DESCRIBE_CLUSTER, versions=(0, 2), flexible_from=0):
    """1: says which kind of endpoint is described. 2: which brokers are fenced."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    endpoint_type: int = wire(int8, since=1, default=1)
    cluster_id: str = wire(string)
    controller_id: int = wire(int32, default=-1)
    brokers: list[DescribeClusterBroker] = wire(array(DescribeClusterBroker))
    cluster_authorized_operations: int = wire(int32, default=OPERATIONS_NOT_REQUESTED)
