"""The overview's charts: samples kept for hours, the groups furthest behind, and all of it as a file."""

import csv
import io
import re

import pytest

from console.kit.common.clock import utc
from console.kit.common.time_range import TimeRange, iso_of
from console.signals.overview.charts import overview_charts
from console.signals.overview.samples import INTERVAL_MS, KEPT_MS
from console.state.clusters.models import ClusterSample


@pytest.fixture
def look(collect, collector):
    def everything() -> None:
        collect()
        collector.look("sizes")

    return everything


def test_a_sample_is_kept_every_few_seconds_and_for_hours_only(cluster, look, clock):
    cluster.create_topic("orders", 1, 1)
    look()
    look()
    assert ClusterSample.objects.count() == 1
    clock.advance(INTERVAL_MS)
    look()
    assert ClusterSample.objects.count() == 2
    clock.advance(KEPT_MS)
    look()
    assert ClusterSample.objects.count() == 2


def test_a_sample_holds_rates_and_lag(cluster, look, clock):
    cluster.create_topic("orders", 1, 1)
    cluster.append("orders", 0, 100)
    cluster.commit("readers", "orders", 0, 40)
    look()
    for _ in range(2):
        cluster.append("orders", 0, 150)
        clock.advance(INTERVAL_MS)
        look()
    newest = ClusterSample.objects.last()
    assert (newest.records_per_second, newest.bytes_per_second, newest.lag) == (10.0, 1_000.0, 210)


def test_charts_begin_with_the_first_look(db):
    assert overview_charts(TimeRange("1h")) == []


def test_the_groups_furthest_behind_have_lines_of_their_own(cluster, look, clock):
    cluster.create_topic("orders", 1, 1)
    cluster.append("orders", 0, 100)
    for number in range(7):
        cluster.commit(f"group-{number}", "orders", 0, 10 * number)
    for _ in range(2):
        look()
        clock.advance(INTERVAL_MS)
    lags = overview_charts(TimeRange("1h"))[2].chart
    assert [(line.name, line.now) for line in lags.lines] == [
        ("all groups", "490"),
        ("group-0", "100"),
        ("group-1", "90"),
        ("group-2", "80"),
        ("group-3", "70"),
        ("group-4", "60"),
    ]


def test_the_page_draws_them_with_words_for_who_cannot_see(cluster, look, viewer, client_of):
    cluster.create_topic("orders", 1, 1)
    look()
    text = client_of(viewer).get("/").content.decode()
    assert text.count("<figure") == 3
    assert re.search(r'aria-label="Records in per second: highest [^"]+; now records', text)
    assert 'id="charts-6h"' in client_of(viewer).get("/", {"last": "6h"}).content.decode()
    assert 'id="charts-1h"' in client_of(viewer).get("/", {"last": "nonsense"}).content.decode()


def test_a_range_of_the_past_is_drawn_and_stays_as_it_is(cluster, look, clock, viewer, client_of):
    cluster.create_topic("orders", 1, 1)
    for _ in range(3):
        cluster.append("orders", 0, 150)
        look()
        clock.advance(INTERVAL_MS)
    to_ms = clock.now_ms() - INTERVAL_MS
    from_ms = to_ms - 10 * 60_000
    ends = {"from": iso_of(utc(from_ms)), "to": iso_of(utc(to_ms))}
    response = client_of(viewer).get("/", ends)
    chart = response.context["charts"][0].chart
    assert 0 <= chart.to_ms - to_ms < 60_000
    assert chart.to_ms - chart.from_ms == 10 * 60_000
    assert 'id="charts-fixed"' in response.content.decode()


def test_any_other_range_that_goes_on_is_fetched_anew_with_each_sample(cluster, look, viewer, client_of):
    look()
    for query, goes_on in (("?last=15m", True), ("?from=now-15m", True), ("?last=6h", False), ("?to=now-5m", False)):
        text = client_of(viewer).get(f"/{query}").content.decode()
        assert ('id="charts-open"' in text) is goes_on
        assert ('data-refreshes="charts-open"' in text) is goes_on


def test_the_samples_come_as_a_file(cluster, look, viewer, client_of):
    look()
    response = client_of(viewer).get("/", {"format": "csv"})
    (row,) = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))
    assert row.keys() == {"time", "records_per_second", "bytes_per_second", "records_not_read"}


@pytest.mark.usefixtures("listeners")
def test_a_new_sample_is_pushed_once_for_each_span(cluster, collect, clock, monkeypatch):
    sent = []
    monkeypatch.setattr("console.shell.collector.announce.send_now", sent.extend)
    collect()
    collect()
    assert sum('id="charts-1h"' in html for _, html in sent) == 1
    clock.advance(INTERVAL_MS)
    collect()
    assert sum('id="charts-1h"' in html for _, html in sent) == 2
    assert sum('id="charts-6h"' in html for _, html in sent) == 2
    assert sum('data-refreshes="charts-open"' in html for _, html in sent) == 2
