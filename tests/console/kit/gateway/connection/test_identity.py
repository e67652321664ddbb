"""A cluster that has taken the place of another: nothing is read of it and nothing done to it, whoever asks and how."""

import pytest

from broker.protocol.api_keys import ApiKey
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.identity import refuse_other
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import OtherClusterError
from tests.fakes.zookeeper import FakeZooKeeper
from tests.secure_broker import SecureBroker

_HARMLESS = {ApiKey.API_VERSIONS, ApiKey.METADATA}


@pytest.fixture
def broker():
    with SecureBroker() as served:
        yield served


def gateway_to(broker: SecureBroker, meant: str) -> KafkaGateway:
    client = ClusterClient(broker.address, meant=lambda: meant)
    return KafkaGateway(client, ConsoleMembership(lambda: FakeZooKeeper(lambda: 0)), request_timeout_seconds=10.0)


@pytest.mark.parametrize(
    "ask",
    [
        lambda gateway: gateway.describe_cluster(),
        lambda gateway: gateway.describe_topics(),
        lambda gateway: gateway.delete_topic("orders"),
        lambda gateway: gateway.create_topic("orders", 1, 1),
        lambda gateway: gateway.add_partitions("orders", 3),
        lambda gateway: gateway.elect_preferred_leaders([("orders", 0)]),
        lambda gateway: gateway.delete_records("orders", {0: 5}),
        lambda gateway: gateway.change_topic_settings("orders", {"retention.ms": "1"}),
        lambda gateway: gateway.produce_record("orders", 0, None, b"paid"),
        lambda gateway: gateway.moves.alter({("orders", 0): (1, 2)}),
        lambda gateway: gateway.moves.assignments(["orders"]),
        lambda gateway: gateway.brokers.change_settings(1, {"log.retention.ms": "1"}),
    ],
)
def test_another_cluster_is_asked_for_nothing_but_who_it_is(ask, broker):
    with pytest.raises(OtherClusterError, match="its id is secured, and what is kept here is of the-old-one"):
        ask(gateway_to(broker, "the-old-one"))
    assert set(broker.requests) <= _HARMLESS


@pytest.mark.parametrize("meant", ["secured", ""])
def test_the_one_that_is_meant_and_any_while_none_is_known_is_asked(meant, broker):
    assert gateway_to(broker, meant).describe_cluster().cluster_id == "secured"


def test_what_was_meant_once_stays_though_the_rows_are_forgotten(broker):
    meant = ["the-old-one"]
    client = ClusterClient(broker.address, meant=lambda: meant[0])
    gateway = KafkaGateway(client, ConsoleMembership(lambda: FakeZooKeeper(lambda: 0)), request_timeout_seconds=10.0)
    for _ in range(2):
        with pytest.raises(OtherClusterError):
            gateway.describe_cluster()
        meant[0] = ""


@pytest.mark.parametrize(("known", "cluster_id"), [("a", "a"), ("", "a"), ("", "")])
def test_nothing_speaks_against_the_same_id_or_against_any_while_none_is_known(known, cluster_id):
    refuse_other(known, cluster_id)


@pytest.mark.parametrize("cluster_id", ["b", ""])
def test_another_id_or_none_after_there_was_one_is_another_cluster(cluster_id):
    with pytest.raises(OtherClusterError, match="start_afresh main"):
        refuse_other("a", cluster_id)
