"""Charts of processes, streams, connectors and mirrors: what is noted of each, whose pages they are, alerts on them."""

import pytest

from console.cluster.charts.collect import ChartCollector
from console.cluster.charts.measures import GROUP, NAME_LENGTH_MAX
from console.cluster.charts.readings import readings
from console.cluster.charts.tiers import FINEST
from console.ecosystem.connectors.models import Connector
from console.ecosystem.mirrors.charted import series_name
from console.ecosystem.mirrors.models import MirroredTopic
from console.ecosystem.streams.models import StreamProgress
from console.kit.common.clock import now_ms
from console.processes.models import ManagedProcess
from console.signals.alerts.conditions import conditions
from console.signals.alerts.rules import parse_rules
from console.signals.overview.health import Health, HealthLevel
from console.state.clusters import store
from console.state.consumers.models import ConsumerGroup
from tests.console.cluster.charts.test_pages import lines

ADDRESSES = {
    "/processes/broker-1/+charts/": {
        "CPU: CPU": "12.5 %",
        "Memory: memory": "60\u202fMB",
        "Started again: times": "2",
    },
    "/streams/counts/+charts/": {
        "Records per second: arrived": "100",
        "Records per second: processed": "90",
        "Records not read: records": "7",
        "A batch takes: time": "850\u202fms",
    },
    "/connectors/lines/+charts/": {"Tasks: running": "2", "Tasks: failed": "1", "Records not read: records": "30"},
    "/mirrors/40000/charts/": {"Records copied per second: records": "25", "Records not copied: records": "3"},
}


@pytest.fixture
def features(db):
    at_ms = now_ms()
    ManagedProcess.objects.create(
        name="broker-1", kind="broker", observed="running", cpu_percent=12.5, memory_bytes=60_000_000, restart_count=2
    )
    counts = ManagedProcess.objects.create(name="counts", kind="stream", observed="running")
    facts = {"recent": [{"arrived": 100.0, "processed": 90.0}], "lag": 7, "duration_ms": {"triggerExecution": 850}}
    StreamProgress.objects.create(process=counts, facts=facts)
    ConsumerGroup.objects.create(name="connect-lines", lag=30, coordinator=1, state="Stable", verdict="ok")
    Connector.objects.create(
        name="lines", kind="sink", state="RUNNING", group="connect-lines", running_count=2, failed_count=1
    )
    MirroredTopic.objects.create(
        pk=40_000, flow="west->east", topic="orders", target="orders", rate=25.0, lag=3, copied_until_ms=1, at_ms=at_ms
    )
    store.ensure_state()
    tiers = ("processes", "connectors", "topics", "brokers", "groups")
    store.update_state(**{f"{tier}_at_ms": at_ms for tier in tiers})


@pytest.fixture
def noted(features):
    charts = ChartCollector(now_ms)
    charts.look()
    charts.write(now_ms())


def readings_of() -> dict[tuple[str, str], tuple]:
    return {(reading.kind, reading.name): reading.values for reading in readings(now_ms())}


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_has_lines_of_what_was_noted(noted, address, administrator, client_of):
    shown = lines(client_of(administrator).get(address))
    assert shown.items() >= ADDRESSES[address].items()


@pytest.mark.parametrize("address", ADDRESSES)
def test_who_may_not_see_the_object_sees_no_chart_of_it(noted, address, outsider, client_of):
    assert client_of(outsider).get(address).status_code in (403, 404)


def test_what_does_not_run_costs_nothing_and_says_nothing(features):
    ManagedProcess.objects.update(observed="stopped")
    now = readings_of()
    assert now["process", "broker-1"] == (None, None, 2)
    assert ("stream", "counts") not in now


def test_a_mirror_that_is_silent_is_not_known(features):
    MirroredTopic.objects.update(at_ms=now_ms() - 10 * 60_000)
    assert readings_of()["mirror", "/west->east/orders"] == (None, None, None)


def test_what_was_seen_long_ago_is_not_known(features):
    store.update_state(connectors_at_ms=now_ms() - 20 * FINEST.step_ms)
    assert readings_of()["connector", "lines"] == (None, None, None)


def test_whose_rights_end_somewhere_sees_no_lag_of_a_sink(noted, limited_reader, client_of):
    shown = lines(client_of(limited_reader).get("/connectors/lines/+charts/"))
    assert set(shown) == {"Tasks: running", "Tasks: failed"}


def test_names_longer_than_a_series_has_room_for_stay_apart():
    rows = [MirroredTopic(cluster="c" * 100, flow="f" * 201, topic="t" * 248 + last) for last in "ab"]
    names = {series_name(row) for row in rows}
    assert len(names) == 2
    assert max(map(len, names)) <= NAME_LENGTH_MAX


@pytest.mark.parametrize(
    ("measure", "limit", "sentence", "link"),
    [
        (
            "process.memory",
            1,
            "Process broker-1 takes 60\u202fMB of memory, above 1\u202fB.",
            "processes/broker-1/+charts/",
        ),
        ("stream.lag", 1, "Stream counts has 7 records not read, above 1.", "streams/counts/+charts/"),
        ("connector.failed", 0, "Connector lines has failed tasks: 1, above 0.", "connectors/lines/+charts/"),
        ("mirror.lag", 1, "Mirror /west->east/orders has 3 records not read, above 1.", "mirrors/"),
    ],
)
def test_an_alert_may_be_raised_on_each(features, measure, limit, sentence, link):
    rules = parse_rules(
        '[channels.ops]\nkind = "webhook"\nurl = "https://ops.example/"\n'
        f'[rules.r]\nmeasure = "{measure}"\nabove = {limit}\nchannels = ["ops"]\n'
    )
    bad = [
        condition
        for condition in conditions(rules, readings(now_ms()), Health(HealthLevel.OK, ()), {})
        if condition.is_bad
    ]
    assert [(item.sentence, item.link) for item in bad] == [(sentence, link)]


@pytest.mark.django_db
def test_how_long_a_group_is_behind_is_counted_to_the_moment_of_the_look():
    figures = {"state": "Stable", "coordinator": 1, "verdict": "ok", "member_count": 2}
    ConsumerGroup.objects.create(name="behind", lag=7, behind_since_ms=4_000, arriving_per_second=1.5, **figures)
    ConsumerGroup.objects.create(name="there", lag=0, **figures)
    store.ensure_state()
    store.update_state(groups_at_ms=9_000)

    values = {reading.name: reading.values for reading in readings(10_000) if reading.kind == GROUP}

    assert values == {"behind": (7, 6_000, 1.5, 2), "there": (0, None, None, 2)}
