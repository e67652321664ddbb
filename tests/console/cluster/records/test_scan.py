"""A scan stops for the first reason there is, and says where to go on."""

import pytest

from console.cluster.records.matching import matcher
from console.cluster.records.reading import merged
from console.cluster.records.scan import RECORDS_PER_READ, Scan, ScanBudget, Stop
from console.kit.gateway.records.interface import RecordView
from tests.fakes.records import FakeRecordStream
from tests.manual_clock import ManualClock


class Matching:
    """A Matcher by a function of the record."""

    note = undecoded = ""

    def __init__(self, function=lambda record: True):
        self._function = function

    def __call__(self, record: RecordView) -> bool:
        return self._function(record)

    def renew(self) -> None:
        return

    def close(self) -> None:
        return


MUCH = ScanBudget(10**9, 10**9, 10**9)


def stream_of(lengths: dict[int, int], starts: dict[int, int] | None = None, size: int = 10) -> FakeRecordStream:
    def lookup(partition: int, offset: int) -> RecordView | None:
        return RecordView(partition, offset, offset, None, b"x" * size) if offset < lengths[partition] else None

    return FakeRecordStream(lookup, starts or dict.fromkeys(lengths, 0))


def scan_of(stream, ends, budget=MUCH, matches=lambda record: True, clock=None) -> tuple[Scan, list[RecordView]]:
    scan = Scan(stream, ends, budget, Matching(matches), (clock or ManualClock()).now_ms)
    views: list[RecordView] = []
    while scan.stopped is None:
        views += scan.step()
    return scan, views


def test_the_end_is_where_it_was_when_the_scan_began():
    scan, first = scan_of(stream_of({0: 100, 1: 100}), {0: 30, 1: 20})
    assert scan.stopped == Stop.END
    assert [sum(partition.partition == number for partition in first) for number in (0, 1)] == [30, 20]
    assert scan.progress.share == 100


def test_an_empty_range_has_ended_before_anything_is_read():
    scan = Scan(stream_of({0: 5}, {0: 5}), {0: 5}, MUCH, Matching(), ManualClock().now_ms)
    assert scan.stopped == Stop.END
    assert scan.progress.share == 100


def test_enough_found_ends_it_and_nothing_is_stepped_over():
    scan, records = scan_of(stream_of({0: 50, 1: 50}), {0: 50, 1: 50}, ScanBudget(7, 10**9, 10**9))
    assert (scan.stopped, len(records)) == (Stop.LIMIT, 7)
    rest, more = scan_of(stream_of({0: 50, 1: 50}, dict(scan.positions)), {0: 50, 1: 50})
    places = sorted((partition.partition, partition.offset) for partition in records + more)
    assert places == [(partition, offset) for partition in (0, 1) for offset in range(50)]
    assert rest.stopped == Stop.END


def test_what_matches_is_found_and_all_that_was_read_is_counted():
    scan, first = scan_of(stream_of({0: 1_000}), {0: 1_000}, matches=lambda record: record.offset % 100 == 0)
    assert (len(first), scan.progress.hits, scan.progress.read) == (10, 10, 1_000)


def test_headers_count_in_the_budget_of_bytes_though_they_have_none():
    """One without a name and a value is two bytes in a batch and 80 in memory: a page of fifty records held 4 GB."""
    headers = (("", b""),) * 1_000
    stream = FakeRecordStream(lambda _, offset: RecordView(0, offset, offset, None, b"", headers), {0: 0})
    scan, first = scan_of(stream, {0: 10_000}, ScanBudget(10**9, 10_000_000, 10**9))
    assert scan.stopped == Stop.BYTES
    assert len(first) <= 10_000_000 // 80_000 + RECORDS_PER_READ


def test_bytes_are_a_budget_too():
    scan, _ = scan_of(stream_of({0: 10_000}, size=100), {0: 10_000}, ScanBudget(10**9, 50_000, 10**9))
    assert scan.stopped == Stop.BYTES
    assert scan.progress.read_bytes <= 50_000 + 100 * RECORDS_PER_READ


def test_a_stream_that_brings_nothing_ends_with_its_time():
    clock = ManualClock()
    scan = Scan(stream_of({0: 0}), {0: 10}, ScanBudget(10, 10, 1_000), Matching(), clock.now_ms)
    assert scan.step() == []
    assert scan.stopped is None
    clock.advance(1_000)
    scan.step()
    assert scan.stopped == Stop.TIME
    assert scan.progress.left == 10


@pytest.mark.parametrize(
    ("search", "searched", "matches"),
    [
        ("", "any", True),
        ("ORDER", "any", True),
        ("order", "key", False),
        ("cust", "key", True),
        ("cust", "value", False),
        ("trace", "header", True),
        ("abc", "header", True),
        (".*", "any", False),
        ("żół", "value", True),
    ],
)
def test_text_is_searched_as_text(search, searched, matches):
    record = RecordView(0, 0, 0, b"customer", "Order ŻÓŁĆ \xff".encode(), (("trace", b"ABC"), ("empty", None)))
    assert matcher("orders", search, searched)(record) is matches


def test_records_of_many_partitions_are_merged_by_time_without_gaps():
    records = [RecordView(0, n, 100 - n, None, None) for n in range(5)] + [RecordView(1, 0, 99, None, None)]
    oldest = [(record.partition, record.offset) for record in merged(records, is_newest_first=False)]
    assert [offset for partition, offset in oldest if partition == 0] == [0, 1, 2, 3, 4]
    newest = [(record.partition, record.offset) for record in merged(records, is_newest_first=True)]
    assert [offset for partition, offset in newest if partition == 0] == [4, 3, 2, 1, 0]
