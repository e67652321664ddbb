"""DescribeClientTraffic: which clients write and read which topics here. It names their addresses: see `others_may`."""

from broker.common.security_limits import CLIENT_TRAFFIC_FORGOTTEN_MS, CLIENT_TRAFFIC_WINDOW_MS
from broker.handlers.handler import OF_EVERYTHING, for_members
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_client_traffic import (
    DescribeClientTrafficClient,
    DescribeClientTrafficRequest,
    DescribeClientTrafficResponse,
    DescribeClientTrafficTopic,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.client_traffic import TrafficOfClient
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.rights import Rights


async def handle_describe_client_traffic(
    _request: DescribeClientTrafficRequest, context: RequestContext
) -> DescribeClientTrafficResponse:
    traffic, clock, turns = context.services.client_traffic, context.services.clock, context.services.turns
    clients = [client for client in (*traffic.clients(), traffic.others) if len(client)]
    return DescribeClientTrafficResponse(
        window_ms=CLIENT_TRAFFIC_WINDOW_MS,
        kept_ms=CLIENT_TRAFFIC_FORGOTTEN_MS,
        clients=await in_turns(clients, lambda client: _client(client, clock.monotonic_ms()), turns, size_of=len),
    )


def _client(client: TrafficOfClient, now_ms: int) -> DescribeClientTrafficClient:
    principal, client_id, host, software_name, software_version = client.identity
    topics = []
    for counters in (client.produced, client.read):
        for name, counter in counters.items():
            records_per_second, bytes_per_second = counter.per_second(now_ms)
            topics.append(
                DescribeClientTrafficTopic(
                    name=name,
                    direction=counters.direction,
                    records=counter.records,
                    bytes_count=counter.bytes,
                    records_per_second=records_per_second,
                    bytes_per_second=bytes_per_second,
                    idle_ms=now_ms - counter.used_ms(now_ms),
                )
            )
    return DescribeClientTrafficClient(
        principal=principal,
        client_id=client_id,
        host=host,
        software_name=software_name,
        software_version=software_version,
        topics=topics,
    )


def _may_describe(rights: Rights) -> bool:
    """Return whether the rights are an administrator's: addresses of clients are for no one else."""
    return rights.may(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)


HANDLER = for_members(
    ApiKey.DESCRIBE_CLIENT_TRAFFIC, 0, 0, handle_describe_client_traffic, budget=OF_EVERYTHING, others_may=_may_describe
)
