"""The last day of the rows of a list, as lines."""

import math

import pytest

from console.cluster.charts.measures import Reading
from console.cluster.charts.recorder import Recorder
from console.cluster.charts.sparks import COLUMNS, HEIGHT, spark_lines, spark_path
from console.cluster.charts.store import RowStore
from console.kit.access.models import NameRule
from console.kit.common.clock import now_ms
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup, GroupPartition

_STEP_MS = 30 * 60_000
#: The beginning of a step.
NOW = 1_000_000 * _STEP_MS


@pytest.fixture
def record(db):
    """record(from_hour, to_hour, value_of): what the collector saw of topics then, hours before NOW, once in 5 min."""

    def note(from_hour: float, to_hour: float, names=("orders",), value_of=lambda at_ms: 10.0, *, end_ms=NOW) -> None:
        store = RowStore()
        recorder = Recorder(store.load)
        for at_ms in range(end_ms - int(from_hour * 3_600_000), end_ms - int(to_hour * 3_600_000) + 1, 300_000):
            topics = [Reading("topic", name, (value_of(at_ms), 0.0, 0.0, 0.0)) for name in names]
            recorder.observe([Reading("cluster", "", (1.0,) * 6), *topics], at_ms)
        store.write(recorder.dirty)

    return note


def points(line: str) -> list[tuple[int, int]]:
    return [tuple(map(int, part.split())) for part in line.replace("M", "L").split("L") if part]


def test_a_page_of_rows_costs_one_query(record, django_assert_num_queries):
    names = [f"topic-{number}" for number in range(50)]
    record(3, 0, names, lambda at_ms: float(at_ms % 7))
    with django_assert_num_queries(1):
        lines = spark_lines("topic", names, "records", NOW)
    assert set(lines) == set(names)


def test_a_line_has_at_most_48_points_and_ends_now(record):
    record(30, 0, value_of=lambda at_ms: 10 + 5 * math.sin(at_ms / 1e7))
    drawn = points(spark_lines("topic", ["orders"], "records", NOW)["orders"])
    assert len(drawn) == COLUMNS
    assert (drawn[0][0], drawn[-1][0]) == (0, 2 * (COLUMNS - 1))


def test_what_stood_still_is_a_flat_line_to_its_end(record):
    record(30, 0, value_of=lambda at_ms: 10.0)
    assert {y for _, y in points(spark_lines("topic", ["orders"], "records", NOW)["orders"])} == {1}


def test_a_value_of_days_ago_that_stood_still_is_drawn_at_its_height(record):
    """At zero it would be drawn at the bottom."""
    record(80, 0, value_of=lambda at_ms: 10.0)
    line = points(spark_lines("topic", ["orders"], "records", NOW)["orders"])
    assert len(line) == COLUMNS
    assert {y for _, y in line} == {1}


def test_what_has_been_unknown_for_days_has_no_line(record):
    record(80, 75)
    record(75, 0, value_of=lambda at_ms: None)
    assert spark_lines("topic", ["orders"], "records", NOW) == {}


def test_where_the_collector_did_not_look_the_line_is_broken(record):
    record(20, 12)
    record(4, 0)
    line = spark_lines("topic", ["orders"], "records", NOW)["orders"]
    assert line.count("M") == 2


def test_a_series_that_is_not_there_has_no_line(record):
    record(3, 0)
    assert spark_lines("topic", ["payments"], "records", NOW) == {}
    assert spark_lines("topic", [], "records", NOW) == {}


def test_zero_is_at_the_bottom_and_the_highest_value_at_the_top():
    assert spark_path([0.0, 5.0, 10.0]) == f"M0 {HEIGHT - 1}L2 {HEIGHT // 2}L4 1"
    assert spark_path([None, 1.0]) == spark_path([]) == ""
    assert spark_path([1.0, None, 1.0]) == "M0 1M4 1"


def test_rows_of_the_lists_use_the_lines(record, viewer, client_of):
    topic = Topic.objects.create(name="orders", partition_count=1, replication_factor=1)
    record(3, 0, end_ms=now_ms())
    text = client_of(viewer).get("/topics/").content.decode()
    assert f'<symbol id="spark-topic-{topic.pk}"' in text
    assert f'<use href="#spark-topic-{topic.pk}"/>' in text


def test_a_group_that_also_reads_hidden_topics_has_no_line(db, viewer, client_of):
    end_ms = now_ms()
    store = RowStore()
    recorder = Recorder(store.load)
    for at_ms in range(end_ms - 3 * 3_600_000, end_ms, 300_000):
        lags = [Reading("group", name, (5.0, 0.0, 1.0, 1.0)) for name in ("mail", "spies")]
        recorder.observe([Reading("cluster", "", (1.0,) * 6), *lags], at_ms)
    store.write(recorder.dirty)
    for name, topics in (("mail", ["orders"]), ("spies", ["orders", "secret"])):
        group = ConsumerGroup.objects.create(name=name, state="Stable", coordinator=1, verdict="ok", topics=topics)
        for topic in topics:
            GroupPartition.objects.create(group=group, topic=topic, partition=0, verdict="ok")
    assert client_of(viewer).get("/consumers/").content.decode().count("<symbol") == 2
    NameRule.objects.create(user=viewer, resource="topic", pattern="secret", level="nothing")
    text = client_of(viewer).get("/consumers/").content.decode()
    assert text.count("<symbol") == 1
    assert f'id="spark-group-{ConsumerGroup.objects.get(name="mail").pk}"' in text
