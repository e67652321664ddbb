"""What a fetched piece of log says of the first unread record, markers of transactions among it."""

import pytest

from broker.protocol.messages.fetch import AbortedTransaction, PartitionData
from broker.records.batch import patch_batch
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record
from console.kit.gateway.groups.interface import UnreadView
from console.kit.gateway.groups.unread import unread_in


def records(first: int, *times_ms: int, producer: int | None = None) -> bytearray:
    transaction = {} if producer is None else {"producer_id": producer, "is_transactional": True}
    written = [Record(first + n, at_ms, None, b"v") for n, at_ms in enumerate(times_ms)]
    return build_batch(written, base_offset=first, **transaction)


def marker(offset: int, kind: MarkerType = MarkerType.COMMIT) -> bytearray:
    batch = build_marker(EndMarker(kind, 0), 7, 0, 1_000)
    patch_batch(batch, 0, offset, 0)
    return batch


def fetched(*batches: bytearray, end: int, error: int = 0, aborted: tuple[int, ...] = ()) -> PartitionData:
    """`aborted`: the first offsets of transactions of producer 7."""
    return PartitionData(
        partition_index=0,
        error_code=error,
        high_watermark=end,
        last_stable_offset=end,
        aborted_transactions=[AbortedTransaction(producer_id=7, first_offset=offset) for offset in aborted],
        records=b"".join(batches),
    )


def test_the_first_record_at_the_position_is_found_inside_its_batch():
    data = fetched(records(10, 1_000, 2_000, 3_000), end=13)

    assert unread_in(data, 11) == UnreadView(11, 2_000)


def test_markers_before_a_record_are_passed_over():
    assert unread_in(fetched(marker(5), marker(6), records(7, 9_000), end=8), 5) == UnreadView(7, 9_000)


def test_nothing_but_markers_up_to_the_end_is_nothing_unread():
    assert unread_in(fetched(marker(5), marker(6), end=7), 5) == UnreadView(None, None)
    assert unread_in(fetched(end=5), 5) == UnreadView(None, None)


def test_markers_up_to_where_the_answer_was_cut_say_nothing_of_the_rest():
    assert unread_in(fetched(marker(5), end=900), 5) is None


def test_a_batch_before_the_position_is_no_answer():
    assert unread_in(fetched(records(1, 1_000, 2_000), records(3, 5_000), end=4), 3) == UnreadView(3, 5_000)


@pytest.mark.parametrize("data", [fetched(end=5, error=1), fetched(records(0, 1)[:40], end=9)])
def test_an_error_or_half_a_batch_is_no_answer(data):
    assert unread_in(data, 0) is None


def test_a_damaged_batch_is_no_answer():
    damaged = records(0, 1_000)
    damaged[-1] ^= 0xFF

    assert unread_in(fetched(damaged, end=1), 0) is None


def test_records_of_an_aborted_transaction_are_none():
    written = (records(5, 1_000, 2_000, producer=7), marker(7, MarkerType.ABORT))

    assert unread_in(fetched(*written, end=8, aborted=(5,)), 5) == UnreadView(None, None)
    assert unread_in(fetched(*written, end=8), 5) == UnreadView(5, 1_000)


def test_the_producers_next_transaction_counts_again():
    written = (records(5, 1_000, producer=7), marker(6, MarkerType.ABORT), records(7, 9_000, producer=7))

    assert unread_in(fetched(*written, end=8, aborted=(5,)), 5) == UnreadView(7, 9_000)


def test_other_producers_between_aborted_records_count():
    written = (records(5, 1_000, producer=7), records(6, 2_000, producer=8), records(7, 3_000))

    assert unread_in(fetched(*written, end=8, aborted=(5,)), 5) == UnreadView(6, 2_000)
