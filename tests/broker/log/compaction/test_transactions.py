"""Aborted records, and how long the marker of a transaction stays."""

import struct

import pytest

from broker.log.compaction.offset_map import OffsetMap
from broker.log.compaction.rebuild import delete_horizon_of
from broker.log.compaction.rewrite import RecordFate, Rewriter
from broker.log.compaction.transactions import Transactions
from broker.records.batch import parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records

NOW = 1_700_000_000_000
ABORT, COMMIT = 0, 1


def data(offset: int, producer_id: int, key: bytes) -> bytes:
    identity = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": 0}
    return bytes(build_batch([Record(0, NOW, key, b"v")], base_offset=offset, is_transactional=True, **identity))


def marker(offset: int, producer_id: int, kind: int) -> bytes:
    record = Record(0, NOW, struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 1))
    identity = {"producer_id": producer_id, "producer_epoch": 0}
    flags = {"is_transactional": True, "is_control": True}
    return bytes(build_batch([record], base_offset=offset, **identity, **flags))


def transactions_of(batches) -> Transactions:
    transactions = Transactions()
    for batch in batches:
        header = parse_batch_header(batch)
        if header.is_control:
            transactions.note_marker(header, decode_records(batch)[0].key)
        else:
            transactions.note_data(header)
    return transactions


def clean(batches, later=(), *, now_ms=NOW, kept_empty=()) -> tuple[list[bytes], Rewriter]:
    """`kept_empty`: offsets of batches that stay even without records."""
    offsets = OffsetMap(1_000, 30)
    for key, offset in dict(later).items():
        offsets.put(key, offset)
    rewriter = Rewriter(offsets, transactions_of(batches), 1_000, now_ms, 500)
    headers = map(parse_batch_header, batches)
    kept = [
        rewriter.rewrite(header, batch, keep_empty=header.base_offset in kept_empty)
        for header, batch in zip(headers, batches, strict=True)
    ]
    return [batch for batch in kept if batch is not None], rewriter


def offsets_of(batches) -> list[int]:
    return [parse_batch_header(batch).base_offset for batch in batches]


def test_aborted_records_go_and_committed_ones_stay():
    log = [data(0, 1, b"a"), data(1, 2, b"b"), marker(2, 1, ABORT), data(3, 1, b"c"), marker(4, 2, COMMIT)]
    kept, rewriter = clean([*log, marker(5, 1, COMMIT)])
    assert offsets_of(kept) == [1, 2, 3, 4, 5]
    assert rewriter.fates == {RecordFate.ABORTED: 1, RecordFate.KEPT: 5}


def test_marker_stays_untouched_as_long_as_its_records():
    log = [data(0, 1, b"a"), marker(1, 1, COMMIT)]
    for _ in range(3):
        kept, _ = clean(log, now_ms=NOW + 10**9)
        assert kept == log


def test_marker_whose_records_are_gone_stays_until_its_own_horizon():
    log = [data(0, 1, b"a"), marker(1, 1, COMMIT)]
    first, _ = clean(log, {b"a": 50})
    assert offsets_of(first) == [1]
    assert delete_horizon_of(parse_batch_header(first[0])) == NOW + 500
    assert decode_records(first[0]) == decode_records(log[1])
    assert clean(first, now_ms=NOW + 499)[0] == first
    last, rewriter = clean(first, now_ms=NOW + 500)
    assert last == []
    assert rewriter.fates == {RecordFate.EXPIRED: 1}


@pytest.mark.parametrize("kind", [ABORT, COMMIT])
def test_marker_stays_as_long_as_a_batch_of_its_transaction_does_be_it_empty(kind):
    """Whoever reads the log anew, a follower or a restarted broker, takes the transaction for open without it."""
    log = [data(0, 1, b"a"), marker(1, 1, kind)]
    for _ in range(3):
        log, _ = clean(log, {b"a": 50}, now_ms=NOW + 10**9, kept_empty=[0])
        assert offsets_of(log) == [0, 1]
        assert transactions_of(log).first_undecided_offset() is None
    once_free, _ = clean(log, {b"a": 50})
    assert offsets_of(once_free) == [1]


def test_marker_of_a_later_transaction_does_not_lean_on_an_earlier_one():
    log = [data(0, 1, b"a"), marker(1, 1, COMMIT), data(2, 1, b"b"), marker(3, 1, COMMIT)]
    kept, _ = clean(log, {b"b": 50})
    horizons = {header.base_offset: delete_horizon_of(header) for header in map(parse_batch_header, kept)}
    assert horizons == {0: None, 1: None, 3: NOW + 500}


def test_transaction_without_a_marker_is_undecided_from_its_first_record_on():
    log = [data(0, 1, b"a"), marker(1, 1, COMMIT), data(2, 2, b"b"), data(3, 1, b"c"), data(4, 2, b"d")]
    assert transactions_of(log).first_undecided_offset() == 2
    assert transactions_of([*log, marker(5, 2, ABORT)]).first_undecided_offset() == 3
    assert transactions_of([*log, marker(5, 2, ABORT), marker(6, 1, COMMIT)]).first_undecided_offset() is None


def test_control_batch_of_no_producer_stays():
    record = Record(0, NOW, struct.pack(">hh", 0, 2), b"leader")
    batch = bytes(build_batch([record], is_control=True))
    assert clean([batch], now_ms=NOW + 10**9)[0] == [batch]


def test_of_a_thousand_transactions_each_batch_is_judged_by_its_own():
    """Two open at a time: those of producer 1 are aborted if their number is odd, those of producer 2 if it is even."""
    batches = []
    for number in range(1_000):
        at = 4 * number
        batches += [data(at, 1, b"k"), data(at + 1, 2, b"k")]
        batches += [
            marker(at + 2, 1, ABORT if number % 2 else COMMIT),
            marker(at + 3, 2, COMMIT if number % 2 else ABORT),
        ]
    transactions = transactions_of(batches)
    headers = [parse_batch_header(batch) for batch in batches]
    aborted = {header.base_offset for header in headers if transactions.is_aborted(header)}
    assert aborted == {4 * number + (0 if number % 2 else 1) for number in range(1_000)}
