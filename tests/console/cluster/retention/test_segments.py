"""What retention does to each segment of a partition, and the page that says so."""

import csv
import io

import pytest

from console.cluster.retention.segments import segment_outlooks
from console.kit.gateway.retention.interface import DoomedSegment, PartitionRetention, RetentionView

HOUR = 3_600_000
NOW = 1_780_000_000_000
PAGE = "/topics/orders/+segments/0/"


def partition(*ages_and_sizes: tuple[int | None, int]) -> PartitionRetention:
    """Ten records in each segment; the newest of each is that old."""
    segments = tuple(
        DoomedSegment(at * 10, at * 10 + 9, size, None if age is None else NOW - age, "retention.ms")
        for at, (age, size) in enumerate(ages_and_sizes)
    )
    total = sum(size for _, size in ages_and_sizes)
    return PartitionRetention(
        0, next_offset=len(segments) * 10, segment_count=len(segments), size_bytes=total, segments=segments
    )


def words(everything, policy="delete", retention_ms=-1, retention_bytes=-1, doomed=None) -> list[str]:
    rules = RetentionView(policy, retention_ms, retention_bytes, ())
    return [outlook.words(NOW).replace("\u202f", " ") for outlook in segment_outlooks(everything, rules, doomed or {})]


def test_by_time_a_segment_goes_when_its_newest_record_is_too_old_and_the_last_has_to_roll():
    result = words(partition((3 * HOUR, 100), (HOUR, 100)), retention_ms=5 * HOUR)
    assert result[0].startswith("in 2 h (")
    assert result[1].startswith("in 4 h (")
    assert [item.endswith("if it has rolled by then") for item in result] == [False, True]


def test_by_size_it_goes_when_those_behind_it_fill_the_room():
    result = words(partition((0, 400), (0, 300), (0, 100)), retention_bytes=1_000)
    assert [part.split(" more")[0] for part in result] == ["once 600 B", "once 900 B", "once 1 KB"]


def test_what_goes_now_says_by_what():
    result = words(partition((9 * HOUR, 100), (0, 100)), retention_ms=HOUR, doomed={0: "retention.ms"})
    assert result[0] == "at the next look of its broker: retention.ms"
    assert result[1].startswith("in 1 h")


@pytest.mark.parametrize("rules", [{"policy": "compact", "retention_ms": 1}, {}])
def test_without_a_limit_or_where_only_compaction_works_it_never_goes(rules):
    assert words(partition((HOUR, 100)), **rules) == ["never by itself"]


def test_a_segment_without_times_does_not_go_by_time():
    assert words(partition((None, 100)), retention_ms=1) == ["never by itself"]


@pytest.fixture
def _orders(cluster, collect, clock):
    cluster.create_topic("orders", 1, 1, {"retention.ms": str(3 * HOUR)})
    cluster.append("orders", 0, 100)
    clock.advance(4 * HOUR)
    cluster.append("orders", 0, 50)
    clock.advance(HOUR)
    collect()


@pytest.mark.usefixtures("_orders")
def test_the_page_says_of_each_segment_when_it_goes(viewer, client_of):
    response = client_of(viewer).get(PAGE)
    (old, old_words), (young, young_words) = response.context["shown"]
    assert (old.goes_now, old.records, young.goes_now, young.records) == ("retention.ms", 100, "", 50)
    assert (old_words, young.is_written_to) == ("at the next look of its broker: retention.ms", True)
    assert young_words.endswith("if it has rolled by then")
    assert b"written to" in response.content
    assert b'href="/topics/orders/+segments/0/"' in client_of(viewer).get("/topics/orders/+retention/").content


@pytest.mark.usefixtures("_orders")
def test_the_file_has_every_segment(viewer, client_of):
    text = b"".join(client_of(viewer).get(f"{PAGE}?format=csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["first_offset"], row["last_offset"], row["goes_now"]) for row in rows] == [
        ("0", "99", "retention.ms"),
        ("100", "149", ""),
    ]


@pytest.mark.usefixtures("_orders")
def test_a_partition_nobody_leads_or_that_is_not_there_is_told(cluster, viewer, client_of):
    client = client_of(viewer)
    assert client.get("/topics/orders/+segments/7/").status_code == 404
    cluster.stop_broker(1)
    assert b"there is no leader for this partition" in client.get(PAGE).content
    cluster.cut_off()
    assert b"No broker answered in time." in client.get(PAGE).content
