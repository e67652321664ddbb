"""Which partitions cannot do without one of their replicas: decided for each, not for its topic."""

import pytest

from console.automation.rolling_restart.advance import advance
from console.automation.rolling_restart.plan import OFFLINE, UNKNOWN
from console.automation.rolling_restart.queries import find_gaps, restart_plan
from console.state.clusters.models import ClusterState, Partition, Topic
from tests.console.automation.rolling_restart.conftest import begun_by


def add_to_orders(partition: int, *replicas: int) -> None:
    """To the topic whose first partition has three replicas; two have to be in sync."""
    topic = Topic.objects.get(name="orders")
    Partition.objects.create(
        topic=topic, partition=partition, leader=replicas[0], replicas=list(replicas), isr=list(replicas)
    )


def test_a_partition_with_fewer_replicas_than_its_topic_is_a_gap(stage):
    add_to_orders(1, 2, 3)
    add_to_orders(2, 1)
    assert [(gap.name, gap.broker_id, gap.meaning) for gap in find_gaps((1, 2, 3))] == [
        ("orders-1", 2, "below min.insync.replicas: acks=all is refused"),
        ("orders-1", 3, "below min.insync.replicas: acks=all is refused"),
        ("orders-2", 1, "offline"),
    ]


@pytest.mark.parametrize("replicas", [(2,), (2, 3)])
def test_a_partition_without_a_replica_to_spare_is_left_alone_unless_accepted(replicas, stage, operator):
    restart = begun_by(operator)
    add_to_orders(1, *replicas)
    advance(restart)
    restart.refresh_from_db()
    assert restart.state == "paused"
    assert "Paused before broker-2: 1 partition has no replica to spare" in restart.sentence
    assert stage.wished() == []


def test_a_minimum_that_the_cluster_has_not_said_is_not_taken_for_one(stage):
    stage.add_topic("pairs", [1, 2], None)
    stage.add_topic("single", [3], None)
    result = [(gap.name, gap.broker_id, gap.meaning) for gap in find_gaps((1, 2, 3))]
    assert result == [("pairs-0", 1, UNKNOWN), ("pairs-0", 2, UNKNOWN), ("single-0", 3, OFFLINE)]


def test_a_throttle_that_keeps_brokers_from_catching_up_is_said_once_and_nothing_is_called_safe(stage):
    assert restart_plan().as_plan().safe_because
    state = ClusterState.objects.get()
    state.throttled_brokers, state.throttled_topics = {"all brokers": 1_000_000}, ["orders"]
    state.save()
    plan = restart_plan().as_plan()
    assert plan.safe_because == ""
    (sentence,) = [touched for touched in plan.touches if "throttle" in touched]
    assert "MB/s is set: replicas that fall behind meanwhile catch up no faster." in sentence


def test_gaps_of_many_partitions_are_found_in_as_many_queries_as_of_one(stage, django_assert_num_queries):
    for number in range(20):
        stage.add_topic(f"single-{number}", [1], 1)
    with django_assert_num_queries(5):  # the state of the cluster, who is away (2), groups, partitions
        assert len(find_gaps((1, 2, 3))) == 20
