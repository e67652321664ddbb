"""What would be: held to what a cluster in memory becomes when the same happens to it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.placement.moving import seen_now
from console.cluster.placement.optimise import GOALS, Weighed, loads_of
from console.cluster.placement.what_if import PartitionNow, Scenario, outcome
from console.state.clusters.models import Partition
from tests.examples import examples

ADDRESS = "/placement/+what-if/"


@st.composite
def worlds(draw) -> tuple[list[PartitionNow], dict[int, str]]:
    count = draw(st.integers(2, 6))
    racks = {index: draw(st.sampled_from(["a", "b", ""])) for index in range(1, count + 1)}
    seen = []
    for number in range(draw(st.integers(0, 20))):
        replicas = tuple(draw(st.permutations(range(1, count + 1)))[: draw(st.integers(1, min(3, count)))])
        isr = tuple(draw(st.lists(st.sampled_from(replicas), unique=True)))
        leader = draw(st.sampled_from(isr)) if isr else None
        weighed = Weighed(("t", number), replicas, draw(st.integers(0, 1_000)), draw(st.floats(0, 100)))
        seen.append(PartitionNow(weighed, leader, isr, draw(st.integers(1, 3))))
    return seen, racks


@given(worlds(), st.data())
@settings(max_examples=examples(100))
def test_only_partitions_whose_in_sync_replicas_are_all_lost_go_offline(world, data):
    seen, racks = world
    lost = frozenset(data.draw(st.sets(st.sampled_from(sorted(racks)))))
    if_outcome = outcome(seen, racks, Scenario(lost))
    offline = {partition.weighed.place for partition in seen if not {*partition.isr} - lost}
    assert {*if_outcome.offline} == offline
    assert {load.broker_id for load in if_outcome.loads if load.after is None} == lost
    led = sum(load.after[GOALS.index("leaders")] for load in if_outcome.loads if load.after is not None)
    assert led == len(seen) - len(offline)


@given(worlds())
@settings(max_examples=examples(50))
def test_nothing_happens_if_nothing_happens(world):
    seen, racks = world
    if_outcome = outcome(seen, racks, Scenario())
    assert if_outcome.led_by_others == 0
    assert all(load.before is not None and load.after is not None for load in if_outcome.loads)
    if all(partition.leader is not None for partition in seen):
        assert all(load.before == load.after for load in if_outcome.loads)


@given(worlds(), st.integers(1, 3), st.floats(0.5, 4), st.floats(0.5, 4))
@settings(max_examples=examples(50))
def test_what_is_added_shares_and_nothing_is_lost_on_the_way(world, added, traffic, kept):
    seen, racks = world
    if_outcome = outcome(seen, racks, Scenario(added=added, traffic=traffic, kept=kept))
    assert sum(load.before is None for load in if_outcome.loads) == added
    led = [partition for partition in seen if partition.leader is not None]
    replicas = sum(load.after[GOALS.index("replicas")] for load in if_outcome.loads if load.after)
    assert replicas == sum(len(seen.weighed.replicas) for seen in led)
    incoming = sum(load.after[GOALS.index("in")] for load in if_outcome.loads if load.after)
    now = loads_of([seen.weighed for seen in led], racks)
    assert incoming == pytest.approx(traffic * sum(load[GOALS.index("in")] for load in now.values()))


def test_what_is_foretold_of_a_lost_broker_is_what_happens(cluster, collect):
    for name, replicas in (("orders", 3), ("single", 1), ("payments", 2)):
        cluster.create_topic(name, 4, replicas)
    collect()
    seen, racks = seen_now()
    if_outcome = outcome(seen, racks, Scenario(frozenset({1})))
    cluster.stop_broker(1)
    collect()
    offline = [(partition.topic.name, partition.partition) for partition in Partition.objects.filter(leader=None)]
    assert sorted(if_outcome.offline) == sorted(offline)
    truth = {number: Partition.objects.filter(leader=number).count() for number in (2, 3)}
    foretold = {load.broker_id: load.after[GOALS.index("leaders")] for load in if_outcome.loads if load.after}
    assert foretold == truth


def test_the_page_says_what_would_be_and_refuses_nonsense(cluster, collect, viewer, client_of):
    cluster.create_topic("single", 3, 1)
    collect()
    client = client_of(viewer)
    assert "Nothing is changed by this page." in client.get(ADDRESS).content.decode()
    page = client.get(f"{ADDRESS}?lost=1&added=2&traffic=2&kept=0.5&throttle=10").content.decode()
    assert "single-0" in page
    assert "added</span>" in page
    for query in ("lost=9", "added=1000", "traffic=-1", "traffic=nan", "rack=moon"):
        assert client.get(f"{ADDRESS}?{query}").status_code == 422


def test_who_may_not_see_all_topics_is_told_no_sums(cluster, collect, limited_reader, client_of):
    assert client_of(limited_reader).get(ADDRESS).status_code == 403
