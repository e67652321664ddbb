"""DescribeCluster: id, controller and brokers (KIP-700)."""

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
from broker.runtime.requests.context import RequestContext

_BROKERS = 1


def handle_describe_cluster(request: DescribeClusterRequest, context: RequestContext) -> DescribeClusterResponse:
    metadata, cluster_id = context.services.metadata, context.services.cluster_id
    if request.endpoint_type != _BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.INVALID_REQUEST,
            error_message="controllers have no endpoints of their own here",
            cluster_id=cluster_id,
        )
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


HANDLER = public(ApiKey.DESCRIBE_CLUSTER, 0, 1, handle_describe_cluster)
