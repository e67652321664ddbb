"""What was observed is what is read, in every resolution, through restarts, gaps and things that go and come again."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.cluster.charts.measures import CLUSTER, KINDS, TOPIC, Reading
from console.cluster.charts.models import Series, SeriesRow
from console.cluster.charts.queries import Past
from console.cluster.charts.recorder import Recorder
from console.cluster.charts.store import RowStore
from console.cluster.charts.tiers import FINEST, TIERS, ChartRow
from tests.examples import examples

STEP_MS = FINEST.step_ms
HOUR_MS, DAY_MS = 3_600_000, 24 * 3_600_000
START_MS = 1_790_000_000_000 - 1_790_000_000_000 % TIERS[2].row_ms
#: Nothing at all, or each of two topics' rate.
looks = st.lists(
    st.none() | st.dictionaries(st.sampled_from(["a", "b"]), st.none() | st.integers(0, 3).map(float)), max_size=300
)

pytestmark = pytest.mark.django_db


class World:
    """A recorder whose console may be started again at any moment."""

    def __init__(self):
        self.at_ms = START_MS
        self.start()

    def start(self) -> None:
        self.store = RowStore()
        self.recorder = Recorder(self.store.load)

    def look(self, **rates: float | None) -> None:
        self.recorder.observe(
            [_reading(CLUSTER, "", 1.0), *(_reading(TOPIC, *item) for item in rates.items())], self.at_ms
        )
        self.at_ms += STEP_MS

    def write(self) -> None:
        self.store.write(self.recorder.dirty)
        self.recorder.dirty.clear()

    def rates(self, name: str, span_ms: int = HOUR_MS) -> list[tuple[int, float]]:
        """(steps since the beginning, value)"""
        past = Past([(TOPIC, name)], self.at_ms - span_ms, self.at_ms)
        return [((at_ms - START_MS) / STEP_MS, value) for at_ms, value in past.values(TOPIC, name, "records")]


def _reading(kind: str, name: str, rate: float | None) -> Reading:
    return Reading(kind, name, (rate,) * len(KINDS[kind]))


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(looks, st.sets(st.integers(0, 300)))
def test_what_was_observed_of_late_is_what_is_read(looks, restarts):
    Series.objects.all().delete()
    world, expected = World(), {"a": [], "b": []}
    for number, rates in enumerate(looks):
        if rates is None:
            world.at_ms += STEP_MS
        else:
            world.look(**rates)
            for name, value in rates.items():
                if value is not None:
                    expected[name].append((float(number), value))
        if number in restarts:
            world.write()
            world.start()
    world.write()
    for name, points in expected.items():
        assert world.rates(name, span_ms=300 * STEP_MS) == points


def test_what_stands_still_is_written_once():
    world = World()
    for _ in range(100):
        world.look(a=5.0)
    world.write()
    assert len(points_of("a")) == 1
    assert world.rates("a") == [(float(number), 5.0) for number in range(100)]


def test_a_row_later_than_any_that_was_written_is_not_looked_for(django_assert_num_queries):
    world = World()
    world.look(a=1.0)
    world.write()
    for store in (world.store, RowStore()):
        assert store.load(((TOPIC, "a"), FINEST.number, START_MS)) is not None
        with django_assert_num_queries(0):
            assert store.load(((TOPIC, "a"), FINEST.number, START_MS + FINEST.row_ms)) is None


def test_what_stood_still_for_longer_than_a_row_is_known_by_the_row_before():
    world = World()
    for _ in range(2 * FINEST.length + 10):
        world.look(a=5.0)
    world.write()
    last_quarter = world.rates("a", span_ms=HOUR_MS // 4)
    assert {value for _, value in last_quarter} == {5.0}
    assert len(last_quarter) == 60


def test_longer_spans_have_means():
    world = World()
    for number in range(3 * TIERS[0].length * 4):
        world.look(a=float(number % 8))
    world.write()
    values = dict(world.rates("a", span_ms=6 * HOUR_MS))
    assert set(list(values.values())[: -TIERS[1].step_ms // STEP_MS]) == {3.5}


def test_a_moment_of_trouble_is_not_lost_in_a_long_step():
    world = World()
    for number in range(3 * TIERS[1].step_ms // STEP_MS):
        world.look(a=1.0 if number == 3 else 0.0)
    world.write()
    past = Past([(TOPIC, "a")], world.at_ms - 6 * HOUR_MS, world.at_ms)
    assert max(value for _, value in past.values(TOPIC, "a", "out_of_sync")) == 1.0
    assert max(value for _, value in past.values(TOPIC, "a", "records")) < 1.0


def test_a_month_is_read_up_to_now():
    world = World()
    for _ in range(TIERS[2].step_ms // STEP_MS + 50):
        world.look(a=2.0)
    world.look(a=9.0)
    world.write()
    assert world.rates("a", span_ms=30 * DAY_MS)[-1][1] == 9.0


def test_what_is_older_than_is_kept_goes_but_what_stood_still_since_is_known():
    world = World()
    for number in range(3 * FINEST.length):
        world.look(still=1.0, moves=float(number))
    for _ in range(FINEST.kept_ms // STEP_MS + 2 * FINEST.length):
        world.look(still=1.0, moves=5.0)
    world.write()
    world.store.forget_old(world.at_ms)
    assert SeriesRow.objects.filter(series__name="moves", tier=FINEST.number).count() == 1
    for name, value in (("still", 1.0), ("moves", 5.0)):
        assert {rate for _, rate in world.rates(name)} == {value}


def test_what_is_gone_is_forgotten_when_nobody_can_look_so_far_back():
    world = World()
    world.look(gone=1.0, stays=1.0)
    world.look(stays=1.0)
    world.write()
    world.at_ms += 60 * DAY_MS
    world.look(stays=1.0)
    world.write()
    for days, left in ((0, {"", "stays", "gone"}), (10, {"", "stays"})):
        world.store.forget_gone(world.recorder.known, world.at_ms + days * DAY_MS)
        assert set(Series.objects.values_list("name", flat=True)) == left


def test_what_is_gone_is_unknown_from_then_on_and_may_come_again():
    world = World()
    world.look(a=1.0)
    world.look()
    world.look(a=1.0)
    world.write()
    assert world.rates("a") == [(0.0, 1.0), (2.0, 1.0)]


def test_what_is_gone_is_unknown_in_coarser_steps_too():
    world = World()
    for _ in range(20):
        world.look(gone=1.0, stays=1.0)
    for _ in range(40):
        world.look(stays=1.0)
    world.write()
    assert {rate for _, rate in world.rates("stays", 10 * HOUR_MS)} == {1.0}
    seen = [step for step, _ in world.rates("gone", 10 * HOUR_MS)]
    assert seen[0] == 0
    assert seen[-1] <= 24, "the step in which it went, and none behind it"


def test_what_comes_again_within_its_step_has_no_gap():
    world = World()
    for there in (True, False, *[True] * 30):
        world.look(**({"a": 1.0} if there else {}))
    world.write()
    assert {rate for _, rate in world.rates("a", 10 * HOUR_MS)} == {1.0}
    assert world.rates("a", 10 * HOUR_MS)[-1][0] >= 24, "steps behind it are known"


def points_of(name: str) -> list[tuple[int, tuple[float, ...]]]:
    """As they are kept in the finest steps."""
    rows = SeriesRow.objects.filter(series__name=name, tier=FINEST.number).order_by("begins_ms")
    width = len(KINDS[TOPIC])
    return [point for row in rows for point in ChartRow.unpack(bytes(row.values), width, FINEST.length).points()]
