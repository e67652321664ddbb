"""An object has one colour: in every chart, after every restart, and whoever is drawn beside it."""

import re

import pytest

from console.cluster.charts.colours import COLOURS, TOTAL, colour_of_api, colour_of_name, colour_of_number
from console.cluster.charts.measures import CLUSTER, GROUP, KINDS, TOPIC, Reading
from console.cluster.charts.models import Series
from console.cluster.charts.queries import colours_of
from console.cluster.charts.recorder import Recorder
from console.cluster.charts.store import RowStore
from console.cluster.charts.tiers import TIERS
from console.cluster.charts.time_chart import COLUMNS, ChartSeries, time_chart
from console.ecosystem.connectors.models import Connector
from console.kit.common.clock import now_ms
from console.state.consumers.models import ConsumerGroup

MINUTE = 60_000
NOW = 1_000 * COLUMNS * MINUTE


def observe(*groups: str, at_ms: int | None = None, store: RowStore | None = None) -> RowStore:
    """Note one look at `groups`, by the collector of a console that has just started unless `store` is given."""
    store = store or RowStore()
    recorder = Recorder(store.load)
    readings = [Reading(CLUSTER, "", (1.0,) * len(KINDS[CLUSTER]))]
    readings += [Reading(GROUP, name, (1.0,) * len(KINDS[GROUP])) for name in groups]
    recorder.observe(readings, at_ms or now_ms())
    store.write(recorder.dirty)
    return store


def test_those_that_begin_one_after_another_have_colours_of_their_own(db):
    names = [f"group-{number}" for number in range(COLOURS)]
    store = observe(*names[:5])
    observe(*names, store=store)
    assert len(set(colours_of(GROUP, names).values())) == COLOURS


def test_a_colour_stays_when_others_come_and_go_and_the_console_restarts(db):
    observe("orders", "billing")
    before = colours_of(GROUP, ["orders"])
    observe("orders", "a-newer-one")
    Series.objects.filter(name="billing").delete()
    observe("orders", "another", "a-newer-one")
    assert colours_of(GROUP, ["orders", "another", "nobody"])["orders"] == before["orders"]


def test_a_colour_is_free_again_when_all_that_is_known_of_its_group_is_forgotten(db):
    long_ago_ms = now_ms() - TIERS[-1].kept_ms - 2 * TIERS[-1].row_ms
    store = observe("retired", at_ms=long_ago_ms)
    retired = colours_of(GROUP, ["retired"])["retired"]
    store.forget_gone([], now_ms())
    observe("orders", store=store)
    assert colours_of(GROUP, ["orders"])["orders"] == retired


def test_what_was_noted_before_there_were_numbers_has_the_colour_of_its_name(db):
    Series.objects.create(kind=GROUP, name="orders")
    observe("orders", "billing")
    assert colours_of(GROUP, ["orders"]) == {"orders": colour_of_name("orders")}


def test_brokers_side_by_side_differ_and_each_has_its_colour_by_its_id():
    assert [colour_of_number(broker_id) for broker_id in (0, 1, 2, 12, 13, 1001)] == [12, 1, 2, 12, 1, 5]


def test_the_apis_asked_most_differ():
    apis = ("Produce", "Metadata", "OffsetCommit", "Heartbeat", "OffsetFetch", "FindCoordinator")
    assert len({colour_of_api(api) for api in apis}) == len(apis)
    assert 1 <= colour_of_api("AlterPartitionReassignments") <= COLOURS


def test_two_of_one_colour_in_a_chart_are_told_apart_by_their_dashes():
    series = [
        ChartSeries(name, [(NOW - MINUTE, 1)], colour=colour)
        for name, colour in (("a", 3), ("b", 5), ("c", 3), ("d", 3))
    ]
    lines = time_chart(series, COLUMNS * MINUTE, NOW, str).lines
    assert [(line.number, line.pattern) for line in lines] == [(3, 0), (5, 0), (3, 1), (3, 2)]


def test_what_it_was_before_has_the_colour_and_the_dashes_of_what_it_is():
    series = [
        ChartSeries("a", [], colour=3),
        ChartSeries("before", [], is_former=True),
        ChartSeries("b", [], colour=3),
        ChartSeries("before", [], is_former=True),
    ]
    lines = time_chart(series, COLUMNS * MINUTE, NOW, str).lines
    assert [(line.number, line.pattern) for line in lines] == [(3, 0), (3, 0), (3, 1), (3, 1)]


def test_measures_of_one_object_have_the_colours_of_their_places():
    lines = time_chart([ChartSeries(name, []) for name in "abc"], COLUMNS * MINUTE, NOW, str).lines
    assert [line.number for line in lines] == [1, 2, 3]


@pytest.fixture
def noted(db):
    """Topics that a source writes, as the collector has seen them, `payments` before `orders`."""
    recorder, store = Recorder(RowStore().load), RowStore()
    for names in (["payments"], ["payments", "orders"]):
        readings = [Reading(TOPIC, name, (1.0,) * len(KINDS[TOPIC])) for name in names]
        recorder.observe([Reading(CLUSTER, "", (1.0,) * len(KINDS[CLUSTER])), *readings], now_ms())
        store.write(recorder.dirty)
    Connector.objects.create(name="lines", kind="source", state="RUNNING", topics=["orders", "payments"])


def test_a_topic_has_its_colour_in_the_chart_of_its_connector(noted, viewer, client_of):
    text = client_of(viewer).get("/connectors/lines/+charts/").content.decode()
    lines = re.findall(r"series-mark series-(\d+)[^>]*></span><bdi>(\w+)", text)
    colours = {name: int(number) for number, name in lines}
    assert {name: colours[name] for name in ("orders", "payments")} == colours_of(TOPIC, ["orders", "payments"])


def test_a_group_of_the_overview_keeps_its_colour_when_another_falls_further_behind(
    cluster, collect, clock, viewer, client_of
):
    cluster.create_topic("orders", 1, 1)
    cluster.append("orders", 0, 100)
    for number in range(3):
        cluster.commit(f"group-{number}", "orders", 0, 10 * number)
    collect()
    observe("group-0", "group-1", "group-2")

    def colours() -> list[tuple[str, int]]:
        chart = client_of(viewer).get("/").context["charts"][2].chart
        return [(line.name, line.number) for line in chart.lines]

    first = colours()
    ConsumerGroup.objects.filter(name="group-2").update(lag=500)
    assert [name for name, _ in first] != [name for name, _ in colours()], "the order is another"
    assert dict(first) == dict(colours())
    assert dict(first)["all groups"] == TOTAL
