"""The optimiser on clusters of every kind: what it promises holds, whatever it finds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.placement.optimise import GOALS, Goal, Weighed, propose_balance, spreads
from tests.examples import examples


@st.composite
def clusters(draw) -> tuple[list[Weighed], dict[int, str]]:
    count = draw(st.integers(2, 6))
    has_racks = draw(st.booleans())
    racks = {index: draw(st.sampled_from("abc")) if has_racks else "" for index in range(1, count + 1)}
    held = []
    for number in range(draw(st.integers(0, 25))):
        factor = draw(st.integers(1, min(3, count)))
        replicas = tuple(draw(st.permutations(range(1, count + 1)))[:factor])
        rates = draw(st.floats(0, 1e6)), draw(st.floats(0, 1e6))
        held.append(Weighed(("t", number), replicas, draw(st.integers(0, 10**9)), *rates))
    return held, racks


CHOSEN = st.sets(st.sampled_from(GOALS), min_size=1)


def unevenness(held, racks, targets, goals) -> float:
    """Sum over goals of the squares of what each broker has, in means."""
    loads = {rack: [0.0] * len(GOALS) for rack in racks}
    for partition in held:
        for at, broker_id in enumerate(targets.get(partition.place, partition.replicas)):
            for goal, weight in enumerate(partition.weights(leads=at == 0)):
                loads[broker_id][goal] += weight
    total = 0.0
    for at, goal in enumerate(GOALS):
        values = [load[at] for load in loads.values()]
        mean = sum(values) / len(values) or 1.0
        total += sum((value / mean) ** 2 for value in values) if goal in goals else 0.0
    return total


@given(clusters(), CHOSEN, st.integers(1, 30))
@settings(max_examples=examples(100))
def test_partitions_keep_their_replicas_apart_and_their_racks(cluster, goals, changes_max):
    held, racks = cluster
    proposal = propose_balance(held, racks, goals, changes_max)
    assert len(proposal.targets) <= changes_max
    known = {item.place: item for item in held}
    for place, replicas in proposal.targets.items():
        before = known[place].replicas
        assert replicas != before
        assert len(replicas) == len(set(replicas)) == len(before)
        assert set(replicas) <= racks.keys()
        assert len({racks[replica] for replica in replicas} - {""}) >= len({racks[item] for item in before} - {""})


@given(clusters(), CHOSEN, st.integers(1, 30))
@settings(max_examples=examples(100))
def test_the_whole_becomes_more_even_with_every_change(cluster, goals, changes_max):
    held, racks = cluster
    proposal = propose_balance(held, racks, goals, changes_max)
    before, after = (unevenness(held, racks, targets, goals) for targets in ({}, proposal.targets))
    assert after < before or not proposal.targets
    assert after <= before


def even(count: int, brokers: int, **weights) -> list[Weighed]:
    """All on the first broker and those beside it."""
    return [Weighed(("t", number), (1, 2), **weights) for number in range(count)]


def test_leaders_are_spread_without_a_byte_copied():
    held = even(10, 3, size_bytes=1_000)
    proposal = propose_balance(held, {1: "", 2: ""}, {Goal.LEADERS}, 100)
    assert {frozenset(target) for target in proposal.targets.values()} == {frozenset((1, 2))}
    (leaders,) = [spread for spread in spreads(held, {1: "", 2: ""}, proposal.targets) if spread.goal is Goal.LEADERS]
    assert (leaders.before, leaders.after) == ((10, 0), (5, 5))


def test_a_broker_that_was_added_gets_its_share_of_each_goal():
    held = [
        Weighed(("t", number), (number % 3 + 1, (number + 1) % 3 + 1), 1_000 + number, 10.0 + number % 7, 5.0)
        for number in range(120)
    ]
    racks = dict.fromkeys(range(1, 5), "")
    proposal = propose_balance(held, racks, GOALS, 200)
    for spread in spreads(held, racks, proposal.targets):
        most, least = spread.after
        assert spread.before[1] == 0
        assert most / least < 1.35, spread
    assert not proposal.is_cut


def test_what_is_left_beyond_the_limit_is_told():
    proposal = propose_balance(even(40, 4, size_bytes=10), dict.fromkeys(range(1, 5), ""), {Goal.REPLICAS}, 3)
    assert len(proposal.targets) == 3
    assert proposal.is_cut


def test_a_partition_with_a_replica_on_a_broker_that_is_away_stays():
    held = [Weighed(("t", number), (1, 9)) for number in range(9)]
    assert propose_balance(held, {1: "", 2: ""}, GOALS, 100).targets == {}


@pytest.mark.parametrize("held", [[], [Weighed(("t", 0), (1,))]])
def test_little_is_even_or_stays_as_it_is(held):
    assert propose_balance(held, {1: ""}, GOALS, 100).targets == {}
