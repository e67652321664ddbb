"""One broker of two dies: what the other leads is still known, on the cluster in memory and on real processes."""

from collections.abc import Callable

import pytest

from console.kit.gateway.errors import GatewayError
from tests.barnabas_cluster import await_true, running_cluster
from tests.conformance.gateway.real import kafka_gateway
from tests.fakes.gateway import FakeGateway


@pytest.fixture(params=["fake", "real"])
def gateway_and_kill(request):
    """A gateway to two brokers, and kill(broker_id)."""
    if request.param == "fake":
        gateway = FakeGateway(broker_count=2)
        yield gateway, gateway.stop_broker
        return
    with running_cluster(brokers=2, zookeeper=request.getfixturevalue("zookeeper")) as cluster:
        yield kafka_gateway(cluster), lambda broker_id: cluster.broker(broker_id).kill()


def offsets_by_leader(gateway, first_leaders) -> dict[int, int | None]:
    """The next offset of the partition each broker led at first."""
    (topic,) = [topic for topic in gateway.describe_topics() if topic.name == "orders"]
    return {first_leaders[partition.partition]: partition.next_offset for partition in topic.partitions}


def test_a_dead_broker_costs_the_offsets_of_its_own_partitions_only(gateway_and_kill):
    gateway, kill = gateway_and_kill
    gateway.create_topic("orders", 2, 1)
    await_true(
        lambda: (
            [partition.next_offset for topic in gateway.describe_topics() for partition in topic.partitions] == [0, 0]
        ),
        "both partitions are led and answer",
    )
    (topic,) = gateway.describe_topics()
    leaders = {partition.partition: partition.leader for partition in topic.partitions}
    assert sorted(leaders.values()) == [1, 2]

    kill(2)
    # The library may have asked the dead one itself which brokers there are.
    await_true(lambda: is_answered(gateway.describe_topics), "the other one is asked")

    assert offsets_by_leader(gateway, leaders) == {1: 0, 2: None}
    await_true(
        lambda: brokers_of(gateway) == 1,
        "broker 2 is not registered any more",
    )
    assert offsets_by_leader(gateway, leaders) == {1: 0, 2: None}


def is_answered(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except GatewayError:
        return False
    return True


def brokers_of(gateway) -> int | None:
    """None while nobody answers: who is asked may be the one that has just died."""
    try:
        return len(gateway.describe_cluster().brokers)
    except GatewayError:
        return None


def test_a_group_is_changed_again_after_its_coordinator_has_died(gateway_and_kill):
    gateway, kill = gateway_and_kill
    groups, start = gateway.groups, {("orders", 0): 0}
    gateway.create_topic("orders", 1, 2)
    await_true(lambda: is_answered(lambda: groups.commit_offsets("readers", start)), "the group has a coordinator")

    kill(groups.describe_one("readers").coordinator)
    await_true(lambda: brokers_of(gateway) == 1, "the dead broker is not registered any more")
    await_true(lambda: is_answered(lambda: groups.describe_one("readers")), "another one coordinates")

    assert groups.commit_offsets("readers", start).why == {}
    groups.delete_group("readers")
    assert groups.describe_one("readers").state == "Dead"
