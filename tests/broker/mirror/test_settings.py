"""Settings between mirrors there and back, in a ring and from two sources: each change arrives, none is undone."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.mirror.settings import SeenValue, SettingSides, follow
from tests.examples import examples

TOPIC = "retention.ms"


class World:
    """Clusters by alias with the topic's settings, and mirrors between them that keep its name."""

    def __init__(self, *flows, **values):
        self.settings = {alias: {TOPIC: value} if value else {} for alias, value in values.items()}
        self.flows, self.now_ms, self.changes = flows, 1_000, 0
        self.records = {}

    def values(self):
        return [setting.get(TOPIC) for setting in self.settings.values()]

    def set(self, alias, value):
        self.now_ms += 1
        self.settings[alias] = {TOPIC: value} if value else {}

    def read(self, flow):
        source, target = flow
        records = [(*at, *seen) for at, seen in self.records.items()]
        mine = [(there, here) for at, to, there, here in records if (at, to) == flow]
        back = [there for at, to, there, _ in records if (to, at) == flow]
        into_source = [here for _, to, _, here in records if to == source]
        others = [here for at, to, _, here in records if to == target and at != source]
        return SettingSides(
            dict(self.settings[source]), dict(self.settings[target]),
            (*(there for there, _ in mine), *into_source), (*(here for _, here in mine), *others, *back),
            not into_source and not others,
        )  # fmt: skip

    def write(self, flow, sides):
        followed = follow(sides, lambda _: False, self.now_ms)
        self.records[flow] = followed.source, followed.target
        if followed.changes:
            self.changes += 1
            self.settings[flow[1]] = {name: value for name, value in followed.changes.items() if value is not None}

    def look(self, *flows):
        """One after the other, as often as it takes to go round."""
        for flow in flows or self.flows * len(self.flows):
            self.now_ms += 1
            self.write(flow, self.read(flow))

    def look_at_once(self, *flows):
        """All have read before the first one writes."""
        self.now_ms += 1
        read = [(flow, self.read(flow)) for flow in flows or self.flows]
        for flow, sides in read:
            self.write(flow, sides)


THERE, BACK = ("north", "south"), ("south", "north")


def test_the_only_mirror_of_a_copy_takes_back_what_was_changed_there():
    world = World(THERE, north="1", south="9")
    world.look()
    assert world.values() == ["1", "1"]
    world.set("south", "5")
    world.look()
    assert world.values() == ["1", "1"]


@pytest.mark.parametrize("side", ["north", "south"])
@pytest.mark.parametrize("order", [(THERE, BACK), (BACK, THERE)])
@pytest.mark.parametrize("value", ["2", None])
def test_a_change_on_either_side_of_two_way_mirrors_arrives_whoever_looks_first(side, order, value):
    world = World(THERE, BACK, north="1", south="1")
    world.look()
    world.set(side, value)
    world.look(*order)
    assert world.values() == [value, value]
    changes = world.changes
    world.look()
    assert (world.values(), world.changes) == ([value, value], changes), "and nothing moves any more"


@pytest.mark.parametrize("at_once", [True, False])
def test_two_way_mirrors_that_find_different_settings_agree(at_once):
    world = World(THERE, BACK, north="1", south="2")
    for _ in range(3):
        (world.look_at_once if at_once else world.look)()
    assert world.values() in (["1", "1"], ["2", "2"])


def test_the_later_of_two_changes_counts():
    world = World(THERE, BACK, north="1", south="1")
    world.look()
    world.set("north", "2")
    world.look(THERE)
    world.set("south", "3")
    world.look(THERE, BACK, THERE, BACK)
    assert world.values() == ["3", "3"]


def test_a_value_that_comes_back_soon_is_a_change_like_any_other():
    world = World(THERE, BACK, north="1", south="1")
    world.look()
    world.set("north", "5")
    world.look(THERE)
    world.set("north", "1")
    world.look(THERE, BACK, THERE, BACK)
    assert world.values() == ["1", "1"]


RING = (("a", "b"), ("b", "c"), ("c", "a"))


@pytest.mark.parametrize("order", list(itertools.permutations(RING)))
@pytest.mark.parametrize("changed", ["a", "b", "c"])
def test_a_change_goes_round_a_ring_once(order, changed):
    world = World(*RING, a="1", b="1", c="1")
    world.look()
    world.set(changed, "2")
    for _ in range(3):
        world.look(*order)
    assert world.values() == ["2"] * 3
    assert world.changes == 2


@pytest.mark.parametrize("order", list(itertools.permutations(RING)))
@pytest.mark.parametrize(("one", "other"), list(itertools.permutations("abc", 2)))
def test_two_changes_in_a_ring_do_not_chase_each_other(order, one, other):
    for at_once in (False, True):
        world = World(*RING, a="1", b="1", c="1")
        world.look()
        world.set(one, "2")
        world.look(order[0])
        world.set(other, "3")
        for _ in range(6):
            (world.look_at_once if at_once else world.look)(*order)
        changes = world.changes
        world.look(*order)
        assert len(set(world.values())) == 1
        assert world.changes == changes


def test_two_sources_of_one_copy_do_not_undo_each_other():
    world = World(("a", "c"), ("b", "c"), a="1", b="2", c=None)
    world.look()
    changes = world.changes
    world.look()
    assert world.changes == changes
    for alias, value in (("b", "7"), ("a", "8")):
        world.set(alias, value)
        world.look()
        assert world.settings["c"] == {TOPIC: value}


def test_what_is_excluded_is_neither_changed_nor_seen():
    sides = SettingSides({"a": "1", "b": "1"}, {}, (), (), is_only_way=True)
    assert follow(sides, lambda name: name == "a", 5) == (
        {"b": "1"},
        {"b": SeenValue("1", 0)},
        {"b": SeenValue("1", 0)},
    )


MESH = tuple(itertools.permutations("abc", 2))
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2", "3", None])),
        st.tuples(st.just("look"), st.lists(st.integers(0, 5), max_size=3)),
    ),
    max_size=20,
)


@settings(max_examples=examples(150))
@given(st.sampled_from([RING, MESH, (*RING, ("b", "a"))]), _STEPS, st.randoms(use_true_random=False))
def test_whatever_is_changed_wherever_all_agree_at_last_and_nothing_moves_any_more(flows, steps, at_random):
    world = World(*flows, a="1", b=None, c="2")
    for what, value in steps:
        if what == "look":
            world.look_at_once(*(flows[item % len(flows)] for item in value))
        else:
            world.set(what, value)
    for _ in range(9):
        world.look(*at_random.sample(flows, len(flows)))
    changes = world.changes
    world.look()
    assert len(set(world.values())) == 1
    assert world.changes == changes
