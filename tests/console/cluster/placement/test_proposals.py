import re

import pytest

from console.cluster.placement.actions import do_move
from console.cluster.placement.models import Reassignment
from console.cluster.placement.move import DRAIN
from console.cluster.placement.moving import drain_plan, partitions_on
from tests.console.cluster.placement.test_move import confirmed
from tests.console.confirming import confirmation_of

ADDRESS = "/placement/+move/"


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 3, 1)
    cluster.create_topic("payments", 3, 2)
    collect()


def placed(cluster) -> set[int]:
    everything = cluster.moves.assignments(["orders", "payments"]).values()
    return {replica for replicas in everything for replica in replicas}


def test_the_chooser_leads_to_each_proposal(operator, client_of):
    text = client_of(operator).get(f"{ADDRESS}?search=ord").content.decode()

    assert 'href="?drain=3"' in text
    assert 'href="?spread=all"' in text
    assert 'href="?topic=orders"' in text


def test_operator_drains_a_broker(cluster, collect, operator, client_of):
    client = client_of(operator)
    shown = client.get(f"{ADDRESS}?drain=3")
    assert b"<h1>Drain broker 3</h1>" in shown.content
    client.post(ADDRESS, confirmed(shown))
    cluster.moves.arrive()
    collect()

    assert placed(cluster) == {1, 2}
    assert partitions_on(3) == 0
    assert Reassignment.objects.get().action == "drain broker"


def test_a_demoted_broker_keeps_its_replicas_and_leads_nothing(cluster, collect, operator, client_of):
    client = client_of(operator)
    shown = client.get(f"{ADDRESS}?demote=3")
    text = shown.content.decode()
    assert "<h1>Demote broker 3</h1>" in text
    assert "nothing is copied" in text
    assert "No other running broker has a replica" in text
    client.post(ADDRESS, confirmed(shown))
    collect()

    replicas = cluster.moves.assignments(["payments"])
    assert all(replica[0] != 3 for replica in replicas.values())
    assert partitions_on(3) == 3
    assert Reassignment.objects.get().action == "demote broker"


def test_what_cannot_leave_is_said_and_stays(cluster, collect, operator, client_of):
    cluster.stop_broker(2)
    collect()
    text = client_of(operator).get(f"{ADDRESS}?drain=3").content.decode()

    assert re.search(r"payments</td><td[^>]*>1</td><td[^>]*>2 replicas need as many other brokers; 1 stay", text)
    assert re.search(r"payments</td><td[^>]*>1</td><td[^>]*>Broker 2 holds a replica and is away", text)
    assert 'name="digest"' in text


def test_others_may_not_even_look(viewer, outsider, client_of):
    for person in (viewer, outsider):
        for query in ("?drain=3", "?spread=all", "?topic=orders&factor=2"):
            assert client_of(person).get(ADDRESS + query).status_code == 403


def test_a_topic_gets_more_replicas_by_a_proposal(cluster, operator, client_of):
    client = client_of(operator)
    shown = client.get(f"{ADDRESS}?topic=orders&factor=2")
    assert b"orders: 3 partitions with 2 replicas instead of 1." in shown.content
    client.post(ADDRESS, confirmed(shown))
    cluster.moves.arrive()

    assert {len(assignment) for assignment in cluster.moves.assignments(["orders"]).values()} == {2}


def test_an_even_cluster_needs_no_spreading(operator, client_of):
    assert "Nothing would change" in client_of(operator).get(f"{ADDRESS}?spread=all").content.decode()


def test_a_throttle_is_planned_with_a_proposal(operator, client_of):
    shown = client_of(operator).get(f"{ADDRESS}?drain=3&throttle=5")

    assert confirmed(shown)["rate"] == "5000000"
    assert client_of(operator).get(f"{ADDRESS}?drain=3&throttle=-5").status_code == 422


@pytest.mark.parametrize(
    "query", ["?demote=99", "?drain=99", "?drain=x", "?undo=1", "?topic=nothing&factor=2", "?topic=nothing"]
)
def test_what_is_not_there_is_not_found(query, operator, client_of):
    assert client_of(operator).get(ADDRESS + query).status_code == 404


def test_a_post_that_names_no_replication_factor_plans_the_one_the_topic_has(operator, client_of):
    posted = client_of(operator).post(f"{ADDRESS}?topic=orders", {"kind": "factor"})

    assert posted.status_code == 200
    assert "Nothing would change" in posted.content.decode()


def test_other_parts_of_the_console_drain_a_broker_by_plan(cluster, collect, operator):
    move_plan = drain_plan(3)
    plan = move_plan.as_plan("here:9092", DRAIN)
    refused, kept = do_move(operator, plan, move_plan, confirmation_of(plan, operator))
    cluster.moves.arrive()

    assert (refused, placed(cluster)) == ({}, {1, 2})
    assert kept.partition_count == len(move_plan.moves)


def test_what_is_on_the_move_is_left_out_of_a_proposal(cluster, operator, client_of):
    cluster.moves.alter({("orders", 2): (1,)})
    text = client_of(operator).get(f"{ADDRESS}?drain=3").content.decode()

    assert "payments-" in text
    assert "orders-2" not in text


def test_operator_balances_brokers_by_goals(cluster, collect, operator, client_of):
    cluster.create_topic("heavy", 6, 1)
    for partition in range(6):
        cluster.place_replicas("heavy", partition, (1,))
    collect()
    client = client_of(operator)
    assert b'name="goal"' in client.get(ADDRESS).content
    shown = client.get(f"{ADDRESS}?balance=goals&goal=replicas&goal=leaders&changes=10&throttle=5")
    text = shown.content.decode()
    assert "<h1>Balance brokers</h1>" in text
    assert "not a goal" in text
    client.post(ADDRESS, confirmed(shown))
    cluster.moves.arrive()
    collect()
    held = [
        replica
        for replicas in cluster.moves.assignments(["orders", "payments", "heavy"]).values()
        for replica in replicas
    ]
    assert max(map(held.count, (1, 2, 3))) - min(map(held.count, (1, 2, 3))) <= 1
    assert Reassignment.objects.get().action == "balance brokers"


@pytest.mark.parametrize("goal", ["goals&goal=beauty", "beauty", "all&changes=0", "goals"])
def test_goals_that_are_none_are_refused_with_a_reason(goal, operator, client_of):
    answer = client_of(operator).get(f"{ADDRESS}?balance={goal}")
    assert answer.status_code == 422
    assert b'role="alert"' in answer.content
