"""The plan of partitions, carried out on a made-up cluster: whoever comes and goes, it ends, and all lead."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.probe.spread import Add, Elect, PartitionState, ReplicaMove, TopicCreation, View, next_step
from tests.examples import examples

FACTOR = 3
broker_sets = st.dictionaries(st.integers(0, 6), st.sampled_from((None, "a", "b")), min_size=1)


def carried_out(step, view):
    """As a cluster does it whose brokers are all well."""
    partitions = list(view.partitions)
    match step:
        case TopicCreation(assignments):
            partitions = [
                PartitionState(at, assignment[0], assignment, assignment) for at, assignment in enumerate(assignments)
            ]
        case Add(count, assignments):
            assert {len(assignment) for assignment in assignments} == {len(partitions[0].replicas)}
            partitions += [PartitionState(len(partitions) + at, x[0], x, x) for at, x in enumerate(assignments)]
            assert len(partitions) == count
        case ReplicaMove(replicas):
            for at, item in replicas.items():
                leader = partitions[at].leader if partitions[at].leader in item else item[0]
                partitions[at] = PartitionState(at, leader, item, item)
        case Elect(indexes):
            for at in indexes:
                partitions[at] = PartitionState(at, partitions[at].replicas[0], *(partitions[at].replicas,) * 2)
    return View(view.brokers, tuple(partitions))


def settled(view):
    for _ in range(12):
        step = next_step(view, FACTOR)
        if step is None:
            return view
        view = carried_out(step, view)
    raise AssertionError(f"it does not come to an end: {view}")


def seen_by(brokers, view):
    """`view` when these brokers are registered: others lead nothing, and who is back does not lead yet."""
    partitions = []
    for partition in view.partitions:
        isr = tuple(broker for broker in partition.replicas if broker in brokers)
        leader = partition.leader if partition.leader in brokers else (isr[-1] if isr else -1)
        partitions.append(PartitionState(partition.index, leader, partition.replicas, isr))
    return View(brokers, tuple(partitions))


@settings(max_examples=examples(600))
@given(st.lists(broker_sets, min_size=1, max_size=5))
def test_every_broker_leads_whoever_comes_and_goes_and_no_partition_is_taken_away(worlds):
    view = View({})
    for brokers in worlds:
        before = len(view.partitions)
        view = settled(seen_by(brokers, view))
        assert set(brokers) <= {partition.replicas[0] for partition in view.partitions}
        assert set(brokers) <= {partition.leader for partition in view.partitions}
        assert before <= len(view.partitions) <= max(before, len(brokers))
        for partition in view.partitions:
            assert len(set(partition.replicas)) == len(partition.replicas) >= min(FACTOR, len(brokers))


@settings(max_examples=examples(200))
@given(broker_sets, st.data())
def test_a_broker_that_is_away_for_a_while_loses_no_preference(brokers, data):
    view = settled(View(brokers))
    away = data.draw(st.sampled_from(sorted(brokers)))
    rest = {item: rack for item, rack in brokers.items() if item != away}
    steps = next_step(seen_by(rest, view), FACTOR) if rest else None
    assert steps is None or isinstance(steps, Elect)
    back = settled(seen_by(brokers, seen_by(rest, view)))
    assert [partition.replicas for partition in back.partitions] == [
        partition.replicas for partition in view.partitions
    ]


@settings(max_examples=examples(200))
@given(broker_sets, st.data())
def test_a_topic_that_somebody_made_is_spread_and_gets_its_replicas(brokers, data):
    ids = sorted(brokers)
    made = data.draw(st.lists(st.permutations(ids).map(tuple), min_size=1, max_size=9))
    copies = data.draw(st.integers(1, len(ids)))
    cut = [item[:copies] for item in made]
    view = settled(View(brokers, tuple(PartitionState(at, item[0], item, item) for at, item in enumerate(cut))))
    assert set(brokers) <= {partition.leader for partition in view.partitions}
    assert all(len(partition.replicas) >= min(FACTOR, len(ids)) for partition in view.partitions)


def test_replicas_lie_in_other_racks_first():
    view = settled(View({1: "a", 2: "a", 3: "b", 4: "b"}))
    assert all(
        {1, 2} & set(partition.replicas[:2]) and {3, 4} & set(partition.replicas[:2]) for partition in view.partitions
    )


def test_a_first_partition_without_replicas_is_given_some_before_partitions_are_added():
    """Kafka gives new partitions as many replicas as the first has, and refuses none."""
    view = View({1: None, 2: None}, (PartitionState(0, -1, (), ()),))
    assert isinstance(next_step(view, 2), ReplicaMove)
    assert {partition.replicas[0] for partition in settled(view).partitions} == {1, 2}


def test_without_brokers_nothing_is_done():
    assert next_step(View({}), FACTOR) is None
