from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from console.cluster.placement.propose import (
    CHANGES_MAX,
    HeldReplicas,
    propose_demote,
    propose_drain,
    propose_factor,
    propose_spread,
)

RACKS = st.sampled_from(["a", "b", "c"])


@st.composite
def clusters(draw) -> tuple[list[HeldReplicas], dict[int, str]]:
    """Two to seven brokers, on racks or on none, and partitions of every factor that fits them."""
    count = draw(st.integers(2, 7))
    has_racks = draw(st.booleans())
    racks = {broker_id: draw(RACKS) if has_racks else "" for broker_id in range(1, count + 1)}
    held = []
    for number in range(draw(st.integers(0, 30))):
        factor = draw(st.integers(1, min(4, count)))
        replicas = draw(st.permutations(range(1, count + 1)))[:factor]
        held.append(HeldReplicas(("t", number), tuple(replicas), draw(st.integers(0, 1_000))))
    return held, racks


def after(held, proposal) -> list[tuple[int, ...]]:
    return [proposal.targets.get(partition.place, partition.replicas) for partition in held]


def rack_count(replicas, racks) -> int:
    return len({racks[replica] for replica in replicas} - {""})


def counts_of(placed, racks) -> Counter:
    return Counter({**dict.fromkeys(racks, 0), **Counter(replica for replicas in placed for replica in replicas)})


@given(clusters(), st.data())
def test_a_drained_broker_holds_nothing_but_what_cannot_go(cluster, data):
    held, racks = cluster
    leaving = set(data.draw(st.lists(st.sampled_from(sorted(racks)), min_size=1, max_size=2)))
    proposal = propose_drain(held, racks, leaving)

    for partition, replicas in zip(held, after(held, proposal), strict=True):
        if partition.place in proposal.stuck:
            assert len(partition.replicas) > len(racks) - len(leaving)
        else:
            assert not set(replicas) & leaving
            assert len(set(replicas)) == len(partition.replicas)
            assert set(replicas) <= racks.keys()
            # Who stays keeps the place in the order.
            assert all(b == a for a, b in zip(partition.replicas, replicas, strict=True) if a not in leaving)


@given(clusters(), st.data())
def test_draining_uses_as_many_racks_as_the_others_offer(cluster, data):
    held, racks = cluster
    leaving = {data.draw(st.sampled_from(sorted(racks)))}
    proposal = propose_drain(held, racks, leaving)

    open_racks = {rack for broker_id, rack in racks.items() if broker_id not in leaving} - {""}
    for partition in held:
        staying = {racks[one] for one in partition.replicas if one not in leaving} - {""}
        if partition.place in proposal.targets and open_racks - staying:
            assert rack_count(proposal.targets[partition.place], racks) > len(staying)


@given(clusters())
def test_spreading_leaves_every_partition_whole_and_on_as_many_racks(cluster):
    held, racks = cluster
    proposal = propose_spread(held, racks)

    for partition, replicas in zip(held, after(held, proposal), strict=True):
        assert len(set(replicas)) == len(partition.replicas)
        assert set(replicas) <= racks.keys()
        assert rack_count(replicas, racks) >= rack_count(partition.replicas, racks)
    assert all(
        proposal.targets[partition.place] != partition.replicas
        for partition in held
        if partition.place in proposal.targets
    )


@given(clusters())
def test_without_racks_no_broker_holds_two_more_than_another(cluster):
    held, racks = cluster
    plain = dict.fromkeys(racks, "")
    counts = counts_of(after(held, propose_spread(held, plain)), plain)

    assert max(counts.values()) - min(counts.values()) <= 1


@given(clusters())
def test_spreading_what_is_spread_changes_nothing_more(cluster):
    held, racks = cluster
    spread = [
        HeldReplicas(rack.place, replicas, rack.size_bytes)
        for rack, replicas in zip(held, after(held, propose_spread(held, racks)), strict=True)
    ]
    again = propose_spread(spread, racks)

    assert all(
        set(again.targets[partition.place]) == set(partition.replicas)
        for partition in spread
        if partition.place in again.targets
    )


@given(clusters(), st.integers(1, 5))
def test_another_factor_keeps_the_preferred_leader_and_what_is_there(cluster, factor):
    held, racks = cluster
    proposal = propose_factor(held, racks, factor, "t")

    for partition in held:
        replicas = proposal.targets.get(partition.place, partition.replicas)
        if factor > len(racks) and len(partition.replicas) < factor:
            assert partition.place in proposal.stuck
            continue
        assert len(set(replicas)) == factor
        assert replicas[0] == partition.replicas[0]
        assert set(partition.replicas) <= set(replicas) or set(replicas) <= set(partition.replicas)


def test_a_new_broker_takes_its_share_of_replicas_bytes_and_leaders():
    held = [HeldReplicas(("t", n), (n % 3 + 1, (n + 1) % 3 + 1), 100) for n in range(30)]
    proposal = propose_spread(held, dict.fromkeys((1, 2, 3, 4), ""))
    placed = after(held, proposal)

    assert set(counts_of(placed, (1, 2, 3, 4)).values()) == {15}
    leaders = Counter(replicas[0] for replicas in placed)
    assert max(leaders.values()) - min(leaders.values()) <= 1


def test_no_more_replicas_move_than_are_needed():
    held = [HeldReplicas(("t", n), (1,), 100) for n in range(10)]
    proposal = propose_spread(held, {1: "", 2: ""})

    assert len(proposal.targets) == 5


def test_bytes_are_spread_where_counts_leave_the_choice():
    held = [HeldReplicas(("t", n), (1,), 1_000 if n < 2 else 10) for n in range(4)]
    proposal = propose_spread(held, {1: "", 2: ""})
    moved = sum(item.size_bytes for item in held if item.place in proposal.targets)

    assert moved == 1_010


def test_drained_bytes_go_where_least_is_held():
    held = [HeldReplicas(("big", 0), (2,), 5_000), HeldReplicas(("t", 0), (1,), 100), HeldReplicas(("t", 1), (1,), 100)]
    proposal = propose_drain(held, dict.fromkeys((1, 2, 3), ""), {1})

    assert set(proposal.targets.values()) == {(3,)}


def test_a_broker_that_is_away_can_be_drained_too():
    proposal = propose_drain([HeldReplicas(("t", 0), (9, 1), 10)], {1: "", 2: ""}, {9})

    assert proposal.targets == {("t", 0): (2, 1)}


def test_one_proposal_is_no_longer_than_a_plan():
    held = [HeldReplicas(("t", n), (1,), 1) for n in range(CHANGES_MAX + 10)]
    proposal = propose_drain(held, {1: "", 2: ""}, {1})

    assert len(proposal.targets) == CHANGES_MAX
    assert proposal.is_cut


def test_a_partition_with_a_replica_on_a_broker_that_is_away_waits_for_it():
    held = [HeldReplicas(("t", n), (1, 9), 10) for n in range(6)]
    racks = dict.fromkeys((1, 2, 3), "")

    assert propose_drain(held, racks, {1}).stuck.keys() == {item.place for item in held}
    assert propose_spread(held, racks).targets == {}
    assert propose_factor(held, racks, 3, "t").stuck.keys() == {item.place for item in held}


def test_a_demoted_broker_is_last_where_it_would_lead_and_others_share_what_it_led():
    held = [HeldReplicas(("orders", number), (3, 1, 2)) for number in range(4)] + [
        HeldReplicas(("orders", 4), (1, 3, 2))
    ]
    proposal = propose_demote(held, {1: "", 2: "", 3: ""}, 3)
    assert {place: sorted(to) for place, to in proposal.targets.items()} == {
        ("orders", number): [1, 2, 3] for number in range(4)
    }
    assert all(to[-1] == 3 for to in proposal.targets.values())
    assert sorted(to[0] for to in proposal.targets.values()) == [1, 1, 2, 2]
    assert proposal.stuck == {}


def test_nobody_leads_instead_who_is_away_or_not_there():
    held = [
        HeldReplicas(("orders", 0), (3,)),
        HeldReplicas(("orders", 1), (3, 9)),
        HeldReplicas(("orders", 2), (3, 9, 1)),
    ]
    proposal = propose_demote(held, {1: "", 2: "", 3: ""}, 3)
    assert proposal.targets == {("orders", 2): (1, 9, 3)}
    assert set(proposal.stuck) == {("orders", 0), ("orders", 1)}


def test_a_partition_without_replicas_hinders_no_demotion():
    held = [HeldReplicas(("orders", 0), ()), HeldReplicas(("orders", 1), (3, 1))]
    proposal = propose_demote(held, {1: "", 3: ""}, 3)
    assert (proposal.targets, proposal.stuck) == ({("orders", 1): (1, 3)}, {})


def test_one_demotion_is_no_longer_than_a_plan():
    held = [HeldReplicas(("orders", number), (3, 1)) for number in range(CHANGES_MAX + 1)]
    proposal = propose_demote(held, {1: "", 2: "", 3: ""}, 3)
    assert (len(proposal.targets), proposal.is_cut) == (CHANGES_MAX, True)
