"""A cluster nobody answers for: both gateways say so within their timeout."""

import socket

import pytest

from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import ClusterUnreachableError
from tests.fakes.gateway import FakeGateway
from tests.fakes.zookeeper import FakeZooKeeper


@pytest.fixture(params=["fake", "real"])
def unreachable_gateway(request):
    if request.param == "fake":
        gateway = FakeGateway()
        gateway.cut_off()
        yield gateway
        return
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        yield KafkaGateway(
            ClusterClient(f"127.0.0.1:{port}"),
            ConsoleMembership(lambda: FakeZooKeeper(lambda: 0)),
            request_timeout_seconds=0.3,
        )


def test_describing_an_unreachable_cluster_says_so(unreachable_gateway):
    with pytest.raises(ClusterUnreachableError):
        unreachable_gateway.describe_cluster()


def test_describing_topics_of_an_unreachable_cluster_says_so(unreachable_gateway):
    with pytest.raises(ClusterUnreachableError):
        unreachable_gateway.describe_topics()


def test_stable_offsets_of_an_unreachable_cluster_are_not_just_missing(unreachable_gateway):
    with pytest.raises(ClusterUnreachableError):
        unreachable_gateway.producers.stable_offsets([("orders", 0)])
