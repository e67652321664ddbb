"""DescribeCluster: id, controller and brokers (KIP-700), also those that stopped with replicas on them (KIP-1073)."""

from collections.abc import Awaitable

from broker.common.errors import ErrorCode
from broker.handlers.authorization import cluster_operations
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED
from broker.runtime.in_turns import in_turns
from broker.runtime.metadata_cache import TopicMetadata
from broker.runtime.requests.context import RequestContext

_BROKERS, _CONTROLLERS = 1, 2
_FIRST_VERSION_WITH_ENDPOINT_ERRORS = 1
#: Address of a stopped broker that this one has not seen running.
_UNKNOWN_ADDRESS = ("", -1)


def handle_describe_cluster(
    request: DescribeClusterRequest, context: RequestContext
) -> DescribeClusterResponse | Awaitable[DescribeClusterResponse]:
    if request.endpoint_type != _BROKERS:
        return _wrong_endpoint(request.endpoint_type, context.api_version)
    response = _running(request, context)
    return _with_fenced(response, context) if request.include_fenced_brokers else response


def _wrong_endpoint(endpoint_type: int, version: int) -> DescribeClusterResponse:
    code, message = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoint_type}"
    if endpoint_type == _CONTROLLERS:
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        message = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
    if version < _FIRST_VERSION_WITH_ENDPOINT_ERRORS:
        code = ErrorCode.INVALID_REQUEST
    return DescribeClusterResponse(error_code=code, error_message=message)


def _running(request: DescribeClusterRequest, context: RequestContext) -> DescribeClusterResponse:
    metadata, cluster_id = context.services.metadata, context.services.cluster_id
    return DescribeClusterResponse(
        cluster_id=cluster_id,
        controller_id=metadata.controller_id if metadata.controller_id in metadata.brokers else -1,
        brokers=[
            DescribeClusterBroker(broker_id=broker.broker_id, host=address[0], port=address[1], rack=broker.rack)
            for broker in metadata.brokers.values()
            if (address := broker.endpoints.get(context.session.listener))
        ],
        cluster_authorized_operations=(
            cluster_operations(context) if request.include_cluster_authorized_operations else OPERATIONS_NOT_REQUESTED
        ),
    )


async def _with_fenced(response: DescribeClusterResponse, context: RequestContext) -> DescribeClusterResponse:
    """Add the brokers that have replicas and do not run. ZooKeeper forgets the address of a broker that stops."""
    stopped = context.services.metadata.stopped
    for broker_id in sorted(await stopped_with_replicas(context)):
        broker = stopped.get(broker_id)
        host, port = broker.endpoints.get(context.session.listener, _UNKNOWN_ADDRESS) if broker else _UNKNOWN_ADDRESS
        rack = broker.rack if broker else None
        fenced = DescribeClusterBroker(broker_id=broker_id, host=host, port=port, rack=rack, is_fenced=True)
        response.brokers.append(fenced)
    return response


async def stopped_with_replicas(context: RequestContext) -> set[int]:
    """Return the ids of brokers that assignments name and that do not run."""
    metadata = context.services.metadata
    named: set[int] = set()

    def note(topic: TopicMetadata) -> None:
        for partition in topic.partitions.values():
            named.update(partition.replicas)

    topics = list(metadata.topics.values())
    await in_turns(topics, note, context.services.turns, size_of=lambda topic: len(topic.partitions))
    return named - metadata.brokers.keys()


HANDLER = public(ApiKey.DESCRIBE_CLUSTER, 0, 2, handle_describe_cluster)
