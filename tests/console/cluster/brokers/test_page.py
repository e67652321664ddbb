"""The page of one broker and its partitions."""

import csv
import io
import re

import pytest

from console.cluster.brokers.models import BrokerReport, Directory
from console.kit.gateway.brokers.interface import ApiRequestTimes, ErrorCount
from console.processes.models import ManagedProcess
from console.state.clusters.models import Broker, Partition, Topic


def rows_of(response) -> list[dict]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


@pytest.fixture
def page(viewer, client_of):
    client = client_of(viewer)
    return lambda path="", **query: client.get(f"/brokers/1/{path}", query).content.decode()


@pytest.fixture
def look(collect, collector):
    def at_everything() -> None:
        collect()
        collector.look("sizes")
        collector.look("requests")
        collect()

    return at_everything


def test_a_page_tells_directories_partitions_and_process(cluster, look, page, settings):
    cluster.create_topic("orders", 3, 2)
    cluster.append("orders", 0, 40)
    ManagedProcess.objects.create(name="broker-1", kind="broker", host=settings.HOST_NAME, pid=4711, observed="running")
    look()
    text = page()
    assert "/data/1" in text
    assert ">online</span>" in text
    assert re.search(r'orders</a>-0</span></td>\s*<td><span class="badge ok">leads', text)
    assert 'href="/processes/broker-1/"' in text
    assert "4711" in text


def test_an_offline_directory_stands_with_its_error(cluster, look, page):
    cluster.brokers.failed_dirs.add(1)
    look()
    text = page()
    assert ">offline</span>" in text
    assert "the disk could not be read or written" in text


@pytest.mark.parametrize(
    ("usable", "state", "tone"), [(200, "online", "ok"), (149, "nearly full", "warning"), (49, "full", "critical")]
)
def test_a_volume_with_little_room_is_told(usable, state, tone):
    directory = Directory("/data", "", 1_000, usable)
    assert (directory.state, directory.tone) == (state, tone)


def test_requests_are_told_with_their_percentiles(cluster, collector, look, page, clock):
    cluster.brokers.times[1] = (ApiRequestTimes("Produce", 10, 1, 4_000, ((2_000, 10),)),)
    look()
    clock.advance(5_000)
    cluster.brokers.times[1] = (ApiRequestTimes("Produce", 110, 1, 4_000, ((2_000, 110),)),)
    collector.look("requests")
    cells = dict(re.findall(r'data-cell="(\w+)-Produce">([^<]*)<', page()))
    assert {name: text.replace("\u202f", " ") for name, text in cells.items()} == {
        "rate": "20",
        "p50": "2.0 ms",
        "p95": "2.0 ms",
        "p99": "2.0 ms",
    }


def test_errors_are_told_by_code_beside_the_times_and_nothing_where_there_are_none(
    cluster, collector, look, page, clock
):
    def times_of(count: int) -> tuple[ApiRequestTimes, ...]:
        refused = ErrorCount("NOT_LEADER_OR_FOLLOWER", "the leader is another broker", count)
        buckets = ((2_000, 10),)
        return (
            ApiRequestTimes("Produce", 10, count, 4_000, buckets, (refused,)),
            ApiRequestTimes("Metadata", 10, 0, 4_000, buckets),
        )

    cluster.brokers.times[1] = times_of(4)
    look()
    assert page().count("error-codes") == 1
    clock.advance(5_000)
    cluster.brokers.times[1] = times_of(6)
    collector.look("requests")
    (errors,) = re.findall(r'<ul class="error-codes">(.*?)</ul>', page())
    assert ">NOT_LEADER_OR_FOLLOWER</span>" in errors
    assert "6, 2 in the last minute" in errors


def test_a_broker_that_does_not_tell_its_requests_says_why(cluster, look, page):
    look()
    assert BrokerReport.objects.get(broker_id=1).is_untold
    assert "only Barnabas brokers do" in page()


def test_what_a_silent_broker_said_last_stays(cluster, look, page):
    look()
    cluster.stop_broker(1)
    look()
    text = page()
    assert ">missing</strong>" in text
    assert "/data/1" in text
    assert "this is what it said last" in text


def test_partitions_are_chosen_by_role_and_name(cluster, look, page, viewer, client_of):
    cluster.create_topic("orders", 3, 2)
    cluster.create_topic("bills", 1, 3)
    look()
    chosen = client_of(viewer).get("/brokers/1/partitions/", {"role": "leads", "format": "csv"})
    assert {(row["topic"], row["partition"]) for row in rows_of(chosen)} == {("bills", "0"), ("orders", "0")}
    chosen = client_of(viewer).get("/brokers/1/partitions/", {"role": "follows", "search": "ord", "format": "csv"})
    assert [(row["topic"], row["partition"], row["role"]) for row in rows_of(chosen)] == [("orders", "2", "follows")]
    cluster.stop_broker(1)
    look()
    text = page("partitions/", role="out")
    assert text.count("orders</a>-") == 2
    assert "orders</a>-1<" not in text


def test_broker_11_is_not_taken_for_broker_1(cluster, look, page):
    topic = Topic.objects.create(name="elsewhere")
    Partition.objects.create(topic=topic, partition=0, leader=11, replicas=[11, 21], isr=[11, 21])
    look()
    assert "elsewhere" not in page("partitions/")


def test_bytes_that_come_in_are_told_by_leader(cluster, collector, look, clock):
    cluster.create_topic("orders", 1, 2)
    look()
    cluster.append("orders", 0, 50)
    clock.advance(10_000)
    collector.look("sizes")
    assert list(Broker.objects.values_list("broker_id", "bytes_per_second")) == [(1, 500.0), (2, 0.0), (3, 0.0)]
    cluster.stop_broker(2)
    clock.advance(10_000)
    collector.look("sizes")
    assert list(Broker.objects.values_list("broker_id", "bytes_per_second")) == [(1, 0.0), (2, None), (3, 0.0)]


def test_the_report_of_a_forgotten_broker_goes_with_it(look):
    BrokerReport.objects.create(broker_id=99)
    look()
    assert sorted(BrokerReport.objects.values_list("broker_id", flat=True)) == [1, 2, 3]


def test_a_broker_nobody_has_seen_is_not_found(viewer, client_of, outsider):
    assert client_of(viewer).get("/brokers/9/").status_code == 404
    assert client_of(outsider).get("/brokers/9/").status_code == 403


def test_a_request_that_waits_for_records_is_marked_as_one(viewer, client_of, collect):
    collect()
    report, _ = BrokerReport.objects.get_or_create(broker_id=1)
    slow = {"per_second": 2.0, "p50_ms": 503.0, "p95_ms": 503.0, "p99_ms": 503.0, "max_ms": 503.0, "count": 9}
    report.requests = [slow | {"api": "Fetch", "error_count": 0}, slow | {"api": "Produce", "error_count": 0}]
    report.save()
    text = client_of(viewer).get("/brokers/1/").content.decode()
    fetch, produce = (text[text.index(f">{api}</span>") :][:80] for api in ("Fetch", "Produce"))
    assert ">waits<" in text
    assert text.count(">waits<") == 1
    assert "badge" in fetch
    assert "badge" not in produce
