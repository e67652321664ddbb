"""Bands of leaders: at every moment of a span the band says what was true then."""

from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.past.bands import LENGTH, TopicSpan, bands, colours
from console.cluster.past.states import PartitionThen, TopicThen
from tests.examples import examples

LEADERS = st.none() | st.integers(1, 3)
STATES = st.builds(
    lambda leader, isr: PartitionThen(0, leader, (1, 2, 3), tuple(sorted(isr))), LEADERS, st.sets(st.integers(1, 3))
)
#: (how long it was so, what was so); None: there was no such topic.
TIMES = st.lists(st.tuples(st.integers(1, 50), st.none() | STATES), min_size=1, max_size=12)


def known(times) -> list[TopicSpan]:
    spans, at = [], 0
    for lasted, state in times:
        if state is not None:
            spans.append(TopicSpan(at, at + lasted, TopicThen((state,))))
        at += lasted
    return spans


@given(TIMES, st.integers(0, 100), st.integers(1, 200))
@settings(max_examples=examples(100))
def test_each_moment_of_the_span_has_what_was_true(times, from_ms, lasts):
    to_ms = from_ms + lasts
    (band,) = bands(known(times), from_ms, to_ms, [0])
    for moment in range(from_ms, to_ms):
        truth = next((time_ for time_ in known(times) if time_.from_ms <= moment < time_.until_ms), None)
        drawn = [stretch for stretch in band.stretches if stretch.from_ms <= moment < stretch.until_ms]
        if truth is None:
            assert drawn == []
        else:
            (stretch,) = drawn
            (state,) = truth.then.partitions
            assert (stretch.leader, stretch.isr) == (state.leader, state.isr)
            assert stretch.is_short == (set(state.isr) != {1, 2, 3})
    assert all(stretch.x >= 0 and stretch.x + stretch.width <= LENGTH + 1 for stretch in band.stretches)


@given(TIMES)
@settings(max_examples=examples(50))
def test_stretches_that_touch_are_not_alike(times):
    (band,) = bands(known(times), 0, 10_000, [0])
    for one, other in zip(band.stretches, band.stretches[1:], strict=False):
        assert one.until_ms < other.from_ms or (one.leader, one.isr) != (other.leader, other.isr)


def test_each_leader_has_a_colour_and_nobody_has_none():
    times = [(5, PartitionThen(0, leader, (1, 2, 3), (1, 2, 3))) for leader in (7, None, 3)]
    result = bands(known(times), 0, 15, [0])
    assert colours(result) == {3: 3, 7: 7}
    assert result[0].leaders == 2


def test_the_page_shows_a_fail_over(cluster, collect, clock, client_of, viewer, monkeypatch):
    monkeypatch.setattr("console.cluster.past.band_views.now_ms", clock.now_ms)
    cluster.create_topic("orders", 1, 3)
    collect()
    clock.advance(600_000)
    cluster.stop_broker(1)
    collect()
    clock.advance(600_000)
    client = client_of(viewer)
    page = client.get(reverse("past-bands", args=["orders"])).content.decode()
    assert "led by broker 1, in sync: 1, 2, 3" in page
    assert "led by broker 2, in sync: 2, 3" in page
    assert "partition 0: 1 change of its leader" in page
    csv_text = b"".join(
        client.get(reverse("past-bands", args=["orders"]), {"format": "csv"}).streaming_content
    ).decode()
    assert len(csv_text.splitlines()) == 3
    assert client.get(reverse("past-bands", args=["never"])).status_code == 404


def test_a_hidden_topic_has_no_bands(cluster, collect, client_of, limited_reader):
    cluster.create_topic("secret-plans", 1, 3)
    collect()
    assert client_of(limited_reader).get(reverse("past-bands", args=["secret-plans"])).status_code == 403
