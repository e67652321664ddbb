"""Looks that pass over what rests find what a look at everything would have found, whatever happens to the cluster."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from console.kit.common.rates import RateWindow
from console.kit.gateway.interface import PartitionView, TopicView
from console.state.clusters.tally import ClusterTally
from console.state.clusters.topic_looks import TopicLooks
from console.state.clusters.topic_rows import compare, rate_key, topic_row
from tests.console.state.clusters.whole_tally import counted_anew, rate_anew
from tests.examples import examples

NAMES = ("audit", "clicks", "orders")
BROKERS = (1, 2, 3)
PARTITION = PartitionView(0, leader=1, replicas=(1, 2), isr=(1, 2), leader_epoch=4, first_offset=0, next_offset=100)
TOPIC = TopicView("orders", "id-1", False, (PARTITION,))

#: What may happen to a partition between two looks.
GROWS = st.integers(1, 3).map(
    lambda count: lambda partition: replace(partition, next_offset=(partition.next_offset or 0) + count)
)
IS_CUT = st.just(lambda partition: replace(partition, next_offset=max(0, (partition.next_offset or 0) - 2)))
IS_SILENT = st.just(lambda item: replace(item, leader=None, leader_epoch=None, first_offset=None, next_offset=None))
LOSES_A_BROKER = st.sampled_from(BROKERS).map(
    lambda gone: lambda partition: replace(partition, isr=tuple(broker for broker in partition.isr if broker != gone))
)
IS_PLACED = st.lists(st.sampled_from(BROKERS), min_size=1, unique=True).map(
    lambda brokers: lambda item: replace(item, leader=brokers[0], replicas=tuple(brokers), isr=tuple(sorted(brokers)))
)
IN_PARTITION = st.one_of(GROWS, GROWS, IS_CUT, IS_SILENT, LOSES_A_BROKER, IS_PLACED).map(
    lambda change: lambda view: replace(view, partitions=(*map(change, view.partitions[:1]), *view.partitions[1:]))
)
#: What may happen to a topic; None: it is deleted.
IN_TOPIC = st.one_of(
    st.none(),
    st.integers(1, 3).map(lambda number: lambda view: replace(view, topic_id=f"id-{number}")),
    st.just(lambda view: replace(view, topic_id="")),
    st.just(lambda view: replace(view, is_internal=not view.is_internal)),
    st.just(lambda view: replace(view, min_insync_replicas=2, cleanup_policy="delete")),
    st.just(lambda view: replace(view, min_insync_replicas=None)),
    st.just(lambda view: replace(view, partitions=view.partitions[:1])),
    st.just(
        lambda view: replace(
            view, partitions=(*view.partitions, replace(PARTITION, partition=len(view.partitions), leader=2))
        )
    ),
    st.just(lambda view: replace(view)),
)
PLACES = st.tuples(st.sampled_from(NAMES), st.integers(0, 1))
SIZES = st.dictionaries(PLACES, st.dictionaries(st.sampled_from(BROKERS), st.integers(0, 3)), max_size=3)
ARRIVING = st.dictionaries(PLACES, st.frozensets(st.sampled_from(BROKERS), min_size=1), max_size=2)
#: (what happens to which topic, ms that pass, sizes that are said, what is moved, whether the look is kept)
LOOKS = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from(NAMES), st.one_of(IN_PARTITION, IN_PARTITION, IN_TOPIC)), max_size=2),
        st.sampled_from([1_500, 1_500, 1_500, 4_000, 11_000, 45_000, 0, -1_000, -60_000]),
        st.one_of(st.none(), st.none(), SIZES),
        st.one_of(st.none(), st.none(), ARRIVING),
        st.booleans() | st.just(True),
    ),
    max_size=25,
)


class WholeLooks:
    """Everything, anew at each look."""

    def __init__(self):
        self.rates = RateWindow()

    def look(self, views, before, at_ms, sizes, arriving):
        rows = {view.name: topic_row(view, before.get(view.name), self.rates, at_ms, sizes, arriving) for view in views}
        self.rates.forget_all_but(
            {rate_key(view, partition.partition) for view in views for partition in view.partitions}
        )
        return rows


def happened(views, changes):
    for name, change in changes:
        if name not in views:
            views[name] = replace(TOPIC, name=name)
        elif change is None:
            del views[name]
        else:
            views[name] = change(views[name])


@given(LOOKS)
@settings(max_examples=examples(300), deadline=None)
def test_what_rests_has_the_row_that_a_look_at_everything_finds(story):
    looks, tally, whole = TopicLooks(), ClusterTally(), WholeLooks()
    views, kept, expected = {name: replace(TOPIC, name=name) for name in NAMES}, {}, {}
    at_ms, sizes, arriving = 100_000, {}, {}
    for changes, passed_ms, sizes_seen, moved, is_kept in story:
        happened(views, changes)
        at_ms, sizes = at_ms + passed_ms, sizes if sizes_seen is None else sizes_seen
        arriving = dict(arriving) if moved is None else moved
        result = looks.look(list(views.values()), kept, at_ms, sizes, arriving)
        anew = whole.look(list(views.values()), expected, at_ms, sizes, arriving)
        assert result == anew
        assert compare(kept, result) == compare(expected, anew)
        tally.look(result)
        assert tally.by_broker() == counted_anew(result.values())
        assert tally.records_per_second == rate_anew(result.values())
        assert tally.is_troubled == any(row.leaderless_count or row.under_replicated_count for row in result.values())
        if is_kept:
            kept, expected = result, anew


def test_a_topic_at_rest_keeps_its_row_and_its_partitions_theirs():
    looks, rows = TopicLooks(), {}
    busy = replace(TOPIC, name="busy", partitions=(PARTITION, replace(PARTITION, partition=1)))
    for at_ms in range(0, 15_000, 1_500):
        busy = replace(busy, partitions=(replace(PARTITION, next_offset=at_ms), busy.partitions[1]))
        before, rows = rows, looks.look([busy, replace(TOPIC)], rows, at_ms)

    assert rows["orders"] is before["orders"]
    assert rows["busy"].partitions[0] is not before["busy"].partitions[0]
    assert rows["busy"].partitions[1] is before["busy"].partitions[1]


def test_who_grows_after_a_rest_has_the_rate_of_the_last_ten_seconds():
    looks, rows = TopicLooks(), {}
    for at_ms in range(0, 61_500, 1_500):
        rows = looks.look([TOPIC], rows, at_ms)
    grown = replace(TOPIC, partitions=(replace(PARTITION, next_offset=150),))

    assert looks.look([grown], rows, 61_500)["orders"].records_per_second == 5.0
