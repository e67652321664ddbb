"""A search says which records it has looked at and which not, offers to go on, and has its hits in order of time."""

from bisect import bisect_left
from datetime import UTC, datetime
from random import Random

import pytest
from django.template.loader import render_to_string

from console.cluster.records import search
from console.cluster.records.key_partition import murmur2, partition_of_key
from console.cluster.records.query import RecordQuery, read_cursor
from console.cluster.records.scan import ScanProgress
from console.cluster.records.search import SearchLimits, SearchReader, fitting, next_window
from console.cluster.records.turns import ReadTurn
from console.kit.common.time_range import TimeRange
from console.kit.gateway.records.interface import OffsetSpan, RecordView
from tests.fakes.records import FakeRecordStream

#: What `org.apache.kafka.common.utils.Utils.murmur2` returns (Kafka's own UtilsTest), as signed numbers.
JAVA_MURMUR2 = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
}


class Log:
    """A RecordSource of records in lists, by partition; `streams` are the starts of each stream that was opened."""

    def __init__(self, partitions: dict[int, list[RecordView]], silent: tuple[int, ...] = ()):
        self.partitions, self.silent = partitions, silent
        self.streams: list[dict[int, int]] = []

    def record_spans(self, topic, committed_only):
        return {
            item: OffsetSpan(0, len(records)) for item, records in self.partitions.items() if item not in self.silent
        }

    def offsets_at(self, topic, at_ms, partitions):
        return {
            partition: next((record.offset for record in self.partitions[partition] if record.at_ms >= at_ms), None)
            for partition in partitions
        }

    def open_records(self, topic, starts, committed_only):
        self.streams.append(dict(starts))

        def lookup(partition, offset):
            records = self.partitions[partition]
            return records[offset] if offset < len(records) else None

        return FakeRecordStream(lookup, starts)

    def batches_at(self, topic, starts):
        return []


def log_of(lengths: dict[int, int], silent: tuple[int, ...] = ()) -> Log:
    """Record n of each partition has the key k-n and the time n, so that partitions interleave."""
    return Log(
        {
            partition: [RecordView(partition, n, 10 * n + partition, b"k-%d" % n, b"v") for n in range(length)]
            for partition, length in lengths.items()
        },
        silent,
    )


def searched(log: Log, query: RecordQuery, limits: SearchLimits | None = None) -> tuple[list[RecordView], ReadTurn]:
    reader = SearchReader(log, "orders", len(log.partitions), query, limits)
    views: list[RecordView] = []
    try:
        while True:
            turn = reader.turn()
            views += turn.records
            if turn.ended:
                return views, turn
    finally:
        reader.close()


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    monkeypatch.setattr(search, "WINDOW_FIRST", 20)


def places(records: list[RecordView]) -> list[tuple[int, int]]:
    return [(record.partition, record.offset) for record in records]


def test_a_key_anywhere_in_a_topic_is_found_from_the_newest():
    records, last = searched(log_of({0: 3_000, 1: 3_000}), RecordQuery(search="k-17", searched="value"))
    assert (records, last.summary) == ([], "Searched all 6,000 records: not in them.")
    records, last = searched(log_of({0: 3_000, 1: 0}), RecordQuery(search="k-1234", searched="any"))
    assert places(records) == [(0, 1234)]
    assert last.summary == "Searched all 3,000 records: 1 found."
    assert last.offers == ()


@pytest.mark.parametrize("limits", [SearchLimits(25, read_bytes=5_000), SearchLimits(25, milliseconds=0)])
def test_what_was_not_read_is_named_and_the_search_goes_on_there(limits):
    log = log_of({0: 3_000, 1: 3_000})
    records, last = searched(log, RecordQuery(search="k-3", searched="value"), limits)
    looked_at = 6_000 - sum(offset for _, offset in read_cursor(last.offers[0].cursor))
    assert records == []
    assert f"Searched the newest {looked_at:,} of 6,000 records" in last.summary or "Searched 0 records" in last.summary
    assert f"{6_000 - looked_at:,} older records were not searched." in last.summary
    assert [(offer.label, offer.place) for offer in last.offers] == [("Continue search: older records", "newest")]
    again, after = searched(log, RecordQuery(search="k-3", searched="value", cursor=read_cursor(last.offers[0].cursor)))
    assert again == []
    if looked_at:
        assert f"Searched the oldest {6_000 - looked_at:,} of 6,000 records" in after.summary
        assert [offer.label for offer in after.offers] == ["Search newer records"]


def test_a_search_that_is_continued_counts_and_offers_what_is_ahead_of_it_alone():
    query = RecordQuery(search="k-", searched="any", limit=25, cursor=((0, 60),), is_continued=True)
    _, last = searched(log_of({0: 100}), query)
    assert last.summary == "Searched 25 more of 100 records: 25 found. 35 older records were not searched."
    assert [(offer.label, offer.is_continued) for offer in last.offers] == [("Continue search: older records", True)]
    query = RecordQuery(place="oldest", search="k-", searched="any", limit=25, cursor=((0, 60),), is_continued=True)
    _, last = searched(log_of({0: 100}), query)
    assert last.summary == "Searched 25 more of 100 records: 25 found. 15 newer records were not searched."


def test_hits_are_in_the_order_of_time_and_not_in_blocks_by_partition():
    log = log_of({0: 500, 1: 500, 2: 500})
    for place, sign in (("newest", -1), ("oldest", 1)):
        records, _ = searched(log, RecordQuery(place=place, search="k-", searched="any", limit=200))
        times = [item.at_ms for item in records]
        assert times == sorted(times, key=lambda time_, sign=sign: sign * time_)
        assert {partition.partition for partition in records[:6]} == {0, 1, 2}


@pytest.mark.parametrize("place", ["newest", "oldest"])
def test_pages_of_hits_lead_through_all_of_them_without_a_gap_or_a_repetition(place):
    log = log_of({0: 137, 1: 61, 2: 0, 3: 300})
    query, seen = RecordQuery(place=place, search="k-", searched="any", limit=25), []
    while True:
        records, last = searched(log, query)
        seen += places(records)
        onward = [offer for offer in last.offers if offer.label.startswith("Continue")]
        if not onward:
            break
        query = RecordQuery(place=place, search="k-", searched="any", limit=25, cursor=read_cursor(onward[0].cursor))
    assert len(seen) == len(set(seen))
    assert sorted(seen) == [(p, n) for p, length in ((0, 137), (1, 61), (3, 300)) for n in range(length)]


def test_newest_shows_the_newest_hits_and_not_the_oldest_of_a_window(monkeypatch):
    monkeypatch.setattr(search, "WINDOW_FIRST", 400)
    records, _ = searched(log_of({0: 500}), RecordQuery(search="k-", searched="any", limit=25))
    assert [item.offset for item in records] == list(range(499, 474, -1))


def test_hits_that_do_not_fit_into_memory_are_left_for_the_next_search(monkeypatch):
    monkeypatch.setattr(search, "HELD_BYTES_MAX", 50)
    records, last = searched(log_of({0: 40}), RecordQuery(search="k-", searched="any", limit=25))
    assert 0 < len(records) < 25
    assert last.ended == "byte budget used"
    assert read_cursor(last.offers[0].cursor) == ((0, records[-1].offset),)
    assert fitting([RecordView(0, 0, 0, None, bytes(1_000))], 50) == 1


def test_a_key_s_own_partition_is_searched_first_and_named_as_an_assumption():
    log = log_of(dict.fromkeys(range(4), 400))
    own = partition_of_key("k-7", 4)
    _, last = searched(log, RecordQuery(search="k-7", searched="key", limit=200))
    assert {partition for starts in log.streams[:2] for partition in starts} == {own}
    assert last.summary.startswith(
        f"Searched all 400 records of partition {own} (where the Java client's default partitioner puts this key) "
        "and all 1,200 records of the other partitions: "
    )
    reader = SearchReader(log, "orders", 4, RecordQuery(search="k-7", searched="key"))
    assert f"partition {own} (where the Java client's default partitioner puts this key) first" in reader.outlook
    reader.close()


def test_a_key_elsewhere_than_in_its_own_partition_is_found_too():
    log = log_of({0: 50, 1: 50, 2: 50})
    own = partition_of_key("elsewhere", 3)
    other = (own + 1) % 3
    log.partitions[other].append(RecordView(other, 50, 9_999, b"elsewhere", None))
    records, _ = searched(log, RecordQuery(search="elsewhere", searched="key"))
    assert places(records) == [(other, 50)]


@pytest.mark.parametrize(("key", "number"), JAVA_MURMUR2.items())
def test_murmur2_is_that_of_the_java_client(key, number):
    assert murmur2(key) == number & 0xFFFFFFFF


def test_partitions_without_a_leader_are_named_as_not_searched():
    _, last = searched(log_of({0: 10, 1: 10}, silent=(1,)), RecordQuery(search="k-99"))
    assert last.summary == (
        "Searched all 10 records: not in them. Partition 1 has no leader that answers and was not searched."
    )


def test_records_behind_an_open_transaction_are_named_as_not_searched():
    log = log_of({0: 10})
    everything = log.record_spans
    log.record_spans = lambda topic, committed_only: (
        {0: OffsetSpan(0, 6)} if committed_only else everything(topic, committed_only)
    )
    _, last = searched(log, RecordQuery(search="k-9"))
    assert last.summary == (
        "Searched all 6 records: not in them. 4 offsets from the first open transaction on were not searched: "
        "choose read_uncommitted."
    )
    _, last = searched(log, RecordQuery(search="k-9", committed_only=False))
    assert last.summary == "Searched all 10 records: 1 found."


def test_one_partition_is_named():
    _, last = searched(log_of({0: 10, 1: 10}), RecordQuery(search="k-99", partition=1))
    assert last.summary == "Searched all 10 records of partition 1: not in them."


def test_a_topic_without_records_says_that_there_is_none():
    _, last = searched(log_of({0: 0}), RecordQuery(search="k"))
    assert last.summary == "There is no record to search."


def test_a_range_of_time_bounds_the_search_and_what_lies_around_it_is_offered():
    def moment(at_ms: int) -> datetime:
        return datetime.fromtimestamp(at_ms / 1000, UTC)

    log = log_of({0: 100})
    query = RecordQuery("time", range=TimeRange("", moment(300), moment(500)), search="k-", searched="any", limit=200)
    records, last = searched(log, query)
    assert [item.offset for item in records] == list(range(30, 50))
    assert last.summary == ("Searched 20 of 100 records: 20 found. 30 older and 50 newer records were not searched.")
    assert [(offer.label, offer.cursor, offer.is_beyond) for offer in last.offers] == [
        ("Continue search: newer records", "0:50", True),
        ("Search older records", "0:30", True),
    ]


def test_offsets_without_records_are_not_called_records():
    log = log_of({0: 100})
    records = log.partitions[0]

    def lookup(partition, offset):
        return next((record for record in records[offset:] if record.offset % 2), None)

    class Gaps(FakeRecordStream):
        def read(self, timeout_seconds, records_max):
            kept = [record for record in records[self._positions[0] :] if record.offset % 2]
            self._positions[0] = 100
            return kept

    log.open_records = lambda topic, starts, committed_only: Gaps(lookup, starts)
    _, last = searched(log, RecordQuery(search="k-500"))
    assert last.summary == "Searched all 100 offsets: not in them. They hold 50 records."


def test_windows_grow_while_they_are_cheap_and_shrink_where_records_are_large():
    assert next_window(2_000, 2_000, 10_000, 10) == 8_000
    assert next_window(100_000, 100_000, 10_000, 10) == search.WINDOW_MAX
    assert next_window(8_000, 8_000, 64 * 1024 * 1024, 100) == 2_000
    assert next_window(8_000, 8_000, 1, 20_000) == 800
    assert next_window(1, 1, 10**12, 1) == 1


def test_a_window_grows_over_offsets_without_records_as_if_they_were_not_there():
    assert next_window(100_000, 0, 0, 10) == 400_000
    assert next_window(10**9, 3, 100, 10) == 4 * 10**9
    assert next_window(1_000_000, 200_000, 1, 10) == 500_000


class SparseLog(Log):
    """Of each partition some offsets are left, as compaction and deletion leave them."""

    def __init__(self, offsets: dict[int, list[int]], end: int):
        super().__init__({p: [RecordView(p, n, n, b"k-%d" % n, b"v") for n in kept] for p, kept in offsets.items()})
        self.offsets, self.end, self.looked_up = offsets, end, 0

    def record_spans(self, topic, committed_only):
        return {partition: OffsetSpan(0, self.end) for partition in self.partitions}

    def open_records(self, topic, starts, committed_only):
        self.streams.append(dict(starts))

        def lookup(partition, offset):
            self.looked_up += 1
            at = bisect_left(self.offsets[partition], offset)
            return self.partitions[partition][at] if at < len(self.offsets[partition]) else None

        return SparseStream(lookup, starts, self.end)


class SparseStream(FakeRecordStream):
    """A log keeps its last batch, though it may be empty: a reader gets to the end (`end`)."""

    def __init__(self, lookup, starts, end: int):
        super().__init__(lookup, starts)
        self.end = end

    def read(self, timeout_seconds, records_max):
        records = super().read(timeout_seconds, records_max)
        if len(records) < records_max:
            self._positions |= dict.fromkeys(self._positions.keys() - self._dropped, self.end)
        return records


BILLION = 10**9


@pytest.mark.parametrize("place", ["newest", "oldest"])
@pytest.mark.parametrize(
    "kept",
    [
        list(range(0, BILLION, 10**6)),
        list(range(1_000)),
        list(range(BILLION - 1_000, BILLION)),
        [*range(500), *range(BILLION // 2, BILLION // 2 + 500)],
        [BILLION - 1],
    ],
    ids=["spread evenly", "at the beginning", "at the end", "in two places", "the last one"],
)
def test_a_search_over_a_billion_offsets_and_a_thousand_records_opens_few_streams(place, kept, monkeypatch):
    monkeypatch.setattr(search, "WINDOW_FIRST", 2_000)
    log = SparseLog({0: kept}, BILLION)
    limits = SearchLimits(None)
    records, last = searched(log, RecordQuery(place=place, search="k-", searched="any"), limits)
    assert sorted(item.offset for item in records) == kept
    assert len({item.offset for item in records}) == len(records)
    assert f"Searched all {BILLION:,} offsets: {len(kept):,} found." in last.summary
    assert len(log.streams) <= 32
    assert log.looked_up <= 20 * 1_000


@pytest.mark.parametrize("place", ["newest", "oldest"])
def test_many_records_behind_a_gap_are_not_read_as_one_window(place, monkeypatch):
    """Back in time the window that has grown over the gap reaches far into them: it is given up, not read."""
    monkeypatch.setattr(search, "WINDOW_FIRST", 200)
    monkeypatch.setattr(search, "WINDOW_MAX", 2_000)
    dense = list(range(60_000))
    log = SparseLog({0: dense if place == "newest" else [BILLION - 1 - item for item in reversed(dense)]}, BILLION)
    records, _ = searched(log, RecordQuery(place=place, search="k-", searched="any", limit=50))
    ordered = log.offsets[0][::-1] if place == "newest" else log.offsets[0]
    assert [item.offset for item in records] == ordered[:50]
    assert log.looked_up < 20_000


@pytest.mark.parametrize("place", ["newest", "oldest"])
def test_gaps_of_every_size_lose_no_hit_and_repeat_none(place, monkeypatch):
    monkeypatch.setattr(search, "WINDOW_MAX", 100)
    random, offset, kept = Random(7), 0, {0: [], 1: []}
    for _ in range(2_000):
        offset += random.choice([1, 1, 1, 1, 7, 300, 20_000])
        kept[random.choice([0, 0, 1])].append(offset)
    records, last = searched(
        SparseLog(kept, offset + 1), RecordQuery(place=place, search="k-", searched="any"), SearchLimits(None)
    )
    assert sorted(places(records)) == [(p, n) for p, offsets in kept.items() for n in offsets]
    assert last.offers == ()
    assert "They hold 2,000 records." in last.summary


def test_a_search_of_many_partitions_reads_each_of_them_a_little():
    log = log_of(dict.fromkeys(range(60), 3))
    records, last = searched(log, RecordQuery(search="k-2", searched="any", limit=200))
    assert len(records) == 60
    assert last.summary == "Searched all 180 records: 60 found."


def test_progress_says_how_much_of_how_much_was_searched():
    reader = SearchReader(log_of({0: 300, 1: 300}), "orders", 2, RecordQuery(search="k-9999", searched="value"))
    progress = [reader.turn().progress for _ in range(3)]
    reader.close()
    assert {item.total for item in progress} == {600}
    assert [item.searched for item in progress] == sorted(item.searched for item in progress)
    text = render_to_string(
        "records/partials/progress.html", {"turn": ReadTurn((), ScanProgress(5, 10, 2, 76_313, 57, 176_313))}
    )
    assert "in 100\u202f000 of 176\u202f313 (" in text


def test_what_was_written_while_the_end_was_read_stands_behind_no_transaction():
    log = log_of({0: 10})
    ends = iter((6, 10, 12))
    log.record_spans = lambda _topic, _committed_only: {0: OffsetSpan(0, next(ends))}
    _, last = searched(log, RecordQuery(search="k-9"))
    assert "transaction" not in last.summary
