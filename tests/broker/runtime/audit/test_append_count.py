"""Counts by header and by walking the log, against counts of every record."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.audit.tally import NO_WINDOW, RecordTally, window_of
from broker.log.transaction_index import AbortedRange
from broker.records.batch import HEADER_BYTES, Compression, parse_batch_header, patch_batch
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record, decode_records
from broker.runtime.audit.append_count import WINDOWS_OPEN_MAX, AppendCount, AppendTimeCount, CountedRange, WindowMemory
from broker.runtime.audit.log_walk import RECORDS_AT_ONCE, WINDOWS_MAX, walk
from tests.examples import examples

MINUTE = 60_000
PRODUCER = 7


def record(timestamp_ms):
    return Record(0, timestamp_ms, b"k", b"value")


class Written:
    """A log as bytes, and a leader's count of it."""

    def __init__(self, start=0, kind=AppendCount, room=None):
        self.start = self.end = start
        self.bytes = b""
        self.room = room or WindowMemory(1_000)
        self.count = kind(start, 1, self.room)

    def append(self, *times, **more):
        self.add(build_batch([record(time_) for time_ in times], **more))

    def add(self, batch, append_time_ms=None):
        header = parse_batch_header(batch)
        patch_batch(batch, 0, self.end, 1)
        last = self.end + header.last_offset_delta
        self._noted(
            header, self.end, last, header.max_timestamp if append_time_ms is None else append_time_ms, last + 1
        )
        self.end = last + 1
        self.bytes += bytes(batch)

    def repeat(self, *times):
        """As an idempotent producer whose answer was lost: nothing is written."""
        batch = build_batch([record(time_) for time_ in times])
        header = parse_batch_header(batch)
        self._noted(header, self.end - header.records_count, self.end - 1, header.max_timestamp, self.end)

    def _noted(self, header, base, last, max_timestamp, end):
        """As `ReplicaManager` does."""
        if header.base_timestamp < self.count.low or max_timestamp >= self.count.high:
            self.count.note(header, base, last, max_timestamp, end)
        if header.is_transactional:
            self.count.give_up()

    def seal(self):
        self.count.seal(self.end)


def counts(windows):
    return {window: tally.count for window, tally in windows.items()}


def by_records(written, start, end, aborted=()):
    """Each record decoded: the oracle."""
    results, at = {}, 0
    while at < len(written.bytes):
        header = parse_batch_header(written.bytes, at)
        is_aborted = any(
            segment.producer_id == header.producer_id
            and segment.first_offset <= header.base_offset <= segment.last_offset
            for segment in aborted
        )
        if not header.is_control and not is_aborted:
            for item in decode_records(written.bytes[at : at + header.size_bytes]):
                if start <= item.offset < end:
                    window = window_of(item.timestamp_ms)
                    results[window] = results.get(window, 0) + 1
        at += header.size_bytes
    return results


def test_what_an_append_notes_is_told_as_one_piece_and_the_next_begins_where_it_ends():
    written = Written(start=5)
    written.count.begin_at(5)
    written.append(1_000, 2_000)
    written.append(MINUTE)
    written.seal()
    piece = written.count.to_tell(8)
    assert (piece.start, piece.end, counts(piece.windows)) == (5, 8, {0: 2, MINUTE: 1})
    assert (piece.windows[0].first_offset, piece.windows[0].last_offset) == (5, 6)
    written.count.piece_arrived()
    written.append(3_000)
    written.seal()
    assert written.count.to_tell(9)[:2] == (8, 9)


def test_nothing_is_told_before_it_is_committed_and_before_the_place_of_the_last_leader_is_known():
    written = Written()
    written.append(1_000)
    written.seal()
    assert written.count.to_tell(1) is None
    written.count.begin_at(0)
    assert written.count.to_tell(0) is None
    assert written.count.to_tell(1) is not None


def test_a_batch_that_is_repeated_counts_once():
    written = Written()
    written.count.begin_at(0)
    written.append(1_000, 2_000)
    written.repeat(1_000, 2_000)
    written.append(3_000)
    written.seal()
    assert counts(written.count.to_tell(3).windows) == {0: 3}


def test_records_without_a_time_or_with_one_beyond_all_clocks_are_of_no_window():
    written = Written()
    written.count.begin_at(0)
    for at_ms in (-1, 2**62, -1):
        written.append(at_ms)
    written.append(1_000)
    written.seal()
    assert counts(written.count.to_tell(4).windows) == {NO_WINDOW: 3, 0: 1}


def test_with_append_time_it_is_the_leader_s_time_that_counts():
    written = Written(kind=AppendTimeCount)
    written.count.begin_at(0)
    for at_ms in (5 * MINUTE, 5 * MINUTE + 1, 6 * MINUTE):
        written.add(build_batch([record(0), record(40 * MINUTE)]), append_time_ms=at_ms)
    written.seal()
    assert counts(written.count.to_tell(6).windows) == {5 * MINUTE: 4, 6 * MINUTE: 2}


def test_of_a_batch_over_two_windows_of_a_transaction_or_a_marker_the_log_is_walked():
    for spoil in (
        lambda written: written.append(MINUTE - 1, MINUTE),
        lambda written: written.append(
            1, producer_id=PRODUCER, producer_epoch=0, base_sequence=0, is_transactional=True
        ),
        lambda written: written.add(build_marker(EndMarker(MarkerType.COMMIT, 0), PRODUCER, 0, 5)),
        lambda written: written.append(-1, 5),
    ):
        written = Written()
        written.count.begin_at(0)
        written.append(1)
        spoil(written)
        written.append(2)
        written.seal()
        assert written.count.to_tell(100) is None
        assert written.count.to_walk() == CountedRange(0, written.end, None)
        written.count.walked(CountedRange(0, 1, {0: RecordTally(1)}), 1)
        assert written.count.to_tell(100).end == 1
        written.count.piece_arrived()
        assert written.count.to_walk().start == 1
        written.append(3)
        written.seal()
        assert len(written.count.pieces) == 1, "what is walked is not overtaken"


def test_a_million_windows_do_not_take_a_million_places():
    room = WindowMemory(WINDOWS_OPEN_MAX + 50)
    first, second = Written(room=room), Written(room=room)
    for written in (first, second):
        written.count.begin_at(0)
        for minute in range(WINDOWS_OPEN_MAX + 100):
            written.append(minute * MINUTE)
    assert room.left == WINDOWS_OPEN_MAX + 50
    first.seal()
    assert first.count.to_walk() is not None
    result = walk(first.bytes, 0, first.end, ())
    assert (result.end, len(result.windows)) == (first.end, WINDOWS_OPEN_MAX + 100)
    second.count.let_go()
    assert room.left == WINDOWS_OPEN_MAX + 50


def test_a_walk_stops_at_so_many_windows_and_passes_over_a_batch_that_has_more_alone():
    scattered = Written()
    for minute in range(WINDOWS_MAX + 10):
        scattered.append(minute * MINUTE)
    result = walk(scattered.bytes, 0, scattered.end, ())
    assert (result.end, result.go_on_at, len(result.windows)) == (WINDOWS_MAX, WINDOWS_MAX, WINDOWS_MAX)
    hostile = Written()
    hostile.append(*(minute * MINUTE for minute in range(WINDOWS_MAX + 10)))
    result = walk(hostile.bytes, 0, hostile.end, ())
    assert (result.end, result.go_on_at, result.windows) == (0, hostile.end, {})


def test_a_walk_that_has_looked_at_enough_records_goes_on_later():
    written = Written()
    for _ in range(3):
        written.append(*([MINUTE - 1] + [MINUTE] * (RECORDS_AT_ONCE - 1)))
    result = walk(written.bytes, 0, written.end, ())
    assert result.end == RECORDS_AT_ONCE
    rest = walk(written.bytes, result.go_on_at, written.end, ())
    assert counts(rest.windows) == {0: 1, MINUTE: RECORDS_AT_ONCE - 1}


def test_a_batch_that_nobody_can_read_is_passed_over_and_what_is_before_it_counts():
    written = Written()
    written.append(1)
    written.append(MINUTE - 1, MINUTE, compression=Compression.ZSTD)
    broken = bytearray(written.bytes)
    size = parse_batch_header(written.bytes).size_bytes
    broken[size + HEADER_BYTES : size + HEADER_BYTES + 4] = b"\xff" * 4
    result = walk(bytes(broken), 0, written.end, ())
    assert (result.end, result.go_on_at, counts(result.windows)) == (1, 3, {0: 1})


times = st.lists(st.integers(-1, 3 * MINUTE), min_size=1, max_size=4)
batches = st.lists(
    st.tuples(times, st.sampled_from(Compression), st.sampled_from(["plain", "plain", "plain", "commit", "abort"])),
    max_size=12,
)


@settings(max_examples=examples(80))
@given(batches, st.lists(st.integers(1, 12), max_size=4), st.booleans())
def test_a_walk_counts_what_decoding_every_record_counts(made, cuts, is_in_order):
    """Transactions of one batch; whatever stretches the log is walked in. Where the first record of a batch is not its
    earliest, all are counted, some of them with their batch.
    """
    written, aborted = Written(), []
    for drawn, compression, kind in made:
        records = sorted(drawn) if is_in_order else drawn
        if kind == "plain":
            written.append(*records, compression=compression)
            continue
        first = written.end
        written.append(
            *records, compression=compression, producer_id=PRODUCER, producer_epoch=0, base_sequence=0,
            is_transactional=True,
        )  # fmt: skip
        if kind == "abort":
            aborted.append(AbortedRange(PRODUCER, first, written.end, written.end))
        marker = MarkerType.ABORT if kind == "abort" else MarkerType.COMMIT
        written.add(build_marker(EndMarker(marker, 0), PRODUCER, 0, 5))
    total, at = {}, 0
    for cut in [*cuts, written.end]:
        while at < min(cut, written.end):
            result = walk(written.bytes, at, min(cut, written.end), aborted)
            if result.end == at:
                break
            for window, count in counts(result.windows).items():
                total[window] = total.get(window, 0) + count
            at = result.go_on_at
    assert at == written.end
    true = by_records(written, 0, written.end, aborted)
    assert sum(total.values()) == sum(true.values())
    assert total == true or not is_in_order


@settings(max_examples=examples(80))
@given(st.lists(st.integers(-1, 3 * MINUTE), max_size=40), st.lists(st.integers(0, 40), max_size=5))
def test_pieces_follow_one_another_without_a_gap_and_hold_every_record_once(times, seals):
    """Batches of one record, of which the header tells all."""
    written = Written()
    written.count.begin_at(0)
    counted, at = {}, 0

    def tell():
        nonlocal at
        while (piece := written.count.to_tell(written.end)) is not None:
            assert piece.start == at
            at = piece.end
            for window, count in counts(piece.windows).items():
                counted[window] = counted.get(window, 0) + count
            written.count.piece_arrived()

    for number, time_ in enumerate(times):
        written.append(time_)
        if number in seals:
            written.repeat(time_)
        if number in seals:
            written.seal()
            tell()
    for _ in range(2):
        written.seal()
        tell()
    assert at == written.end
    assert counted == by_records(written, 0, written.end)
    written.count.let_go()
    assert written.room.left == 1_000


def test_a_leader_that_comes_after_another_walks_what_that_one_had_not_told():
    written = Written(start=10)
    written.append(1)
    written.count.begin_at(4)
    written.seal()
    assert written.count.pieces == [CountedRange(4, 10, None)]
    written.count.walked(CountedRange(4, 10, {0: RecordTally(6)}), 10)
    assert written.count.to_tell(11).end == 10
    written.count.piece_arrived()
    written.seal()
    assert written.count.to_tell(11).start == 10


def test_a_leader_whose_log_lacks_what_was_told_begins_where_it_began():
    """After an unclean election: the ledger finds that ranges cut into one another."""
    written = Written(start=10)
    written.append(1)
    written.count.begin_at(50)
    written.seal()
    assert written.count.to_tell(11).start == 10
