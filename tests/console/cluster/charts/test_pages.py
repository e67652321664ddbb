"""The pages of charts: whose they are, what they show of a cluster that was looked at, and of odd addresses."""

import csv
import io
import re

import pytest

from console.cluster.charts.collect import ChartCollector
from console.cluster.charts.tiers import FINEST
from console.ecosystem.connectors.models import Connector
from console.kit.common.clock import now_ms
from console.state.consumers.models import ConsumerGroup, GroupPartition
from console.state.history.models import Change

MINUTES_MS = 60_000
ADDRESSES = [
    "/charts/",
    "/topics/orders/+charts/",
    "/brokers/1/charts/",
    "/consumers/readers/+charts/",
    "/zookeeper/+charts/127.0.0.1:2181/",
]


@pytest.fixture
def looked(cluster, collect, clock):
    """Ten looks up to now; ten records a second arrive in `orders`, and nobody reads them."""
    cluster.create_topic("orders", 1, 1)
    cluster.commit("readers", "orders", 0, 0)
    clock.advance(now_ms() - clock.now_ms() - 10 * FINEST.step_ms)
    charts = ChartCollector(clock.now_ms)
    for _ in range(10):
        cluster.append("orders", 0, 150)
        clock.advance(FINEST.step_ms)
        collect()
        charts.look()


def lines(response) -> dict[str, str]:
    """What each line of each chart is now, under the chart's title."""
    text = response.content.decode()
    shown = {}
    for figure in re.findall(r"<figure.*?</figure>", text, re.S):
        title = re.search(r"<h2>(.*?)</h2>", figure)[1]
        for name, now in re.findall(r"</span><bdi>([^<]*)</bdi> <strong>(.*?)</strong>", figure):
            shown[f"{title}: {name}"] = now
    return shown


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_opens_before_anything_was_noted(address, viewer, client_of, cluster, collect):
    cluster.create_topic("orders", 1, 1)
    cluster.commit("readers", "orders", 0, 0)
    collect()
    assert b"Nothing is known of that time." in client_of(viewer).get(address).content


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_has_lines_of_what_was_noted(address, looked, viewer, client_of):
    assert lines(client_of(viewer).get(address))


def test_a_topic_s_charts_say_what_its_page_says(looked, viewer, client_of):
    result = lines(client_of(viewer).get("/topics/orders/+charts/?span=15m"))
    assert result["Records per second: written"] == "10"
    assert lines(client_of(viewer).get("/consumers/readers/+charts/"))["Records not read: records"] == "1\u202f500"


@pytest.mark.parametrize("span", ["15m", "1h", "6h", "24h", "7d", "30d"])
def test_every_span_ends_with_now(looked, viewer, client_of, span):
    result = lines(client_of(viewer).get(f"/charts/?span={span}&compare=before"))
    assert result["Records in per second: records"] == "10"
    assert set(result) > {"Brokers registered: brokers", "Records not read: lag"}


@pytest.mark.parametrize(
    "query",
    [
        "span=nonsense",
        "since=nonsense&until=2026-01-01T00:00:00Z",
        "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
        "since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z",
        "since=2020-01-01T00:00:00Z&until=2020-01-01T00:00:01Z&compare=before",
        "span=" + "9" * 300,
    ],
)
def test_nonsense_in_the_address_is_not_asked_for(looked, viewer, client_of, query):
    assert client_of(viewer).get(f"/topics/orders/+charts/?{query}").status_code == 200


def test_a_range_that_is_refused_says_what_to_write(looked, viewer, client_of):
    text = client_of(viewer).get("/topics/orders/+charts/?last=soon&from=2026-01-01T00:00").content.decode()
    assert "last=soon is not a length of time, and is ignored." in text
    assert "Write it with its zone, as from=2026-11-28T14:05Z, or as from=now-10m." in text


def test_what_happened_stands_on_the_axis_and_cannot_be_markup(looked, viewer, client_of):
    Change.objects.create(
        at_ms=now_ms() - MINUTES_MS, kind="isr", object_name="orders", sentence="<script>orders", tone="warning"
    )
    text = client_of(viewer).get("/topics/orders/+charts/?span=15m").content.decode()
    assert re.search(
        r'<path class="mark warning" d="M[0-9.]+ 0V120"><title><time [^>]*>[^<]+</time> · &lt;script&gt;orders</title>',
        text,
    )
    assert "<script>orders" not in text


def test_sums_over_what_is_hidden_are_not_told(looked, limited, client_of, cluster, collect):
    assert client_of(limited).get("/charts/").status_code == 403
    assert client_of(limited).get("/topics/orders/+charts/").status_code == 200
    cluster.create_topic("secret-plans", 1, 1)
    cluster.commit("readers", "secret-plans", 0, 0)
    collect()
    assert client_of(limited).get("/consumers/readers/+charts/").status_code == 403


def test_a_server_nobody_knows_has_no_charts(viewer, client_of, cluster, collect):
    collect()
    assert client_of(viewer).get("/zookeeper/+charts/10.0.0.1:2181/").status_code == 404


def test_what_a_chart_shows_is_a_file_too(looked, viewer, client_of):
    response = client_of(viewer).get("/topics/orders/+charts/?span=15m&format=csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    written = [row for row in rows if (row["chart"], row["series"]) == ("Records per second", "written")]
    assert len(written) >= 9
    assert written[-1]["value"] == "10.0"
    assert [row["time"] for row in written] == sorted(row["time"] for row in written)


@pytest.mark.parametrize(
    ("address", "titles"),
    [
        ("/topics/orders/", ["Records per second", "On disk"]),
        ("/consumers/readers/", ["Records not read", "Records arriving per second"]),
        ("/brokers/1/", ["Bytes in per second", "On disk"]),
        ("/connectors/lines/", ["Tasks", "Records per second"]),
    ],
)
def test_the_first_tab_of_an_object_has_its_two_main_charts(address, titles, looked, viewer, client_of):
    Connector.objects.create(name="lines", kind="source", state="RUNNING", topics=["orders"])
    text = client_of(viewer).get(address).content.decode()
    assert [
        re.search(r"<h2>(.*?)</h2>", figure)[1] for figure in re.findall(r"<figure.*?</figure>", text, re.S)
    ] == titles
    assert 'data-refreshes="charts object-figures" data-spread-ms="4000"' in text, "not all pages fetch it at once"


def test_a_group_that_also_reads_hidden_topics_has_no_charts(looked, viewer, client_of, give_rule):
    group = ConsumerGroup.objects.get(name="readers")
    GroupPartition.objects.create(group=group, topic="secret", partition=0)
    give_rule(viewer, "nothing", "topic", "secret")
    assert "<figure" not in client_of(viewer).get("/consumers/readers/").content.decode()
