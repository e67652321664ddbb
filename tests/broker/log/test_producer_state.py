import struct

import pytest
from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode
from broker.log.producer_state import PartitionProducers
from broker.records.batch import BatchHeader, parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record

LAST_SEQUENCE = 2**31 - 1


def batch(sequence: int, count: int = 1, epoch: int = 0, producer_id: int = 7) -> BatchHeader:
    records = [Record(0, 1_000, None, b"v")] * count
    return parse_batch_header(
        build_batch(records, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    )


def written(*headers: BatchHeader, base_offset: int = 100) -> PartitionProducers:
    state = PartitionProducers()
    for header in headers:
        state.note(header, base_offset)
        base_offset += header.records_count
    return state


def refusal(state: PartitionProducers, header: BatchHeader) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        state.check(header)
    return refused.value.code


def test_the_last_time_of_a_producer_is_that_of_what_it_wrote_last():
    producers = PartitionProducers()
    times = (5_000, 3_000)
    for at, timestamp in enumerate(times):
        batch = build_batch([Record(0, timestamp, b"k", b"v")], producer_id=7, producer_epoch=0, base_sequence=at)
        producers.note(parse_batch_header(batch), at)
    assert [facts.last_timestamp for facts in producers.facts()] == [3_000]
    restored = PartitionProducers.decode(producers.encode())
    assert [facts.last_timestamp for facts in restored.facts()] == [3_000]
    restored.forget_from(1)
    assert [facts.last_timestamp for facts in restored.facts()] == [5_000]


def test_trap_33_an_unknown_producer_may_begin_anywhere():
    assert PartitionProducers().check(batch(41)) is None


def test_the_next_sequence_is_new():
    assert written(batch(0, 3)).check(batch(3)) is None


def test_trap_32_a_repeated_batch_is_answered_with_its_first_offset():
    state = written(batch(0, 3), batch(3, 2), base_offset=100)
    assert state.check(batch(0, 3)).base_offset == 100
    assert state.check(batch(3, 2)).base_offset == 103


def test_trap_32_only_the_last_five_batches_are_remembered():
    state = written(*(batch(sequence) for sequence in range(6)))
    assert state.check(batch(1)).base_offset == 101
    assert refusal(state, batch(0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_trap_32_a_gap_is_refused():
    assert refusal(written(batch(0)), batch(2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_overlap_that_is_no_repetition_is_refused():
    assert refusal(written(batch(0, 3)), batch(1, 2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_wrap_to_zero():
    assert written(batch(LAST_SEQUENCE)).check(batch(0)) is None
    assert written(batch(LAST_SEQUENCE - 1, 4)).check(batch(2)) is None


def test_trap_32_an_older_epoch_is_fenced():
    assert refusal(written(batch(0, epoch=2)), batch(1, epoch=1)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_trap_32_a_newer_epoch_begins_at_zero():
    state = written(batch(0, 5, epoch=1))
    assert refusal(state, batch(5, epoch=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert state.check(batch(0, epoch=2)) is None


def test_producers_do_not_mix():
    state = written(batch(0, 5, producer_id=1))
    assert state.check(batch(9, producer_id=2)) is None


def test_the_producer_silent_for_longest_is_forgotten_first(monkeypatch):
    monkeypatch.setattr("broker.log.producer_state.PRODUCERS_PER_PARTITION_MAX", 2)
    state = written(*(batch(0, producer_id=number) for number in (1, 2, 1, 3)))
    assert len(state) == 2
    assert state.check(batch(0, producer_id=1)) is not None
    assert state.check(batch(5, producer_id=2)) is None


def test_a_snapshot_remembers_each_producers_last_batch():
    state = written(batch(0, 3), batch(3, 2), batch(8, producer_id=9), base_offset=100)
    restored = PartitionProducers.decode(state.encode())
    assert restored.check(batch(3, 2)).base_offset == 103
    assert restored.check(batch(8, producer_id=9)).base_offset == 105
    assert restored.check(batch(5)) is None


def test_a_snapshot_remembers_every_batch_that_may_come_again():
    state = written(*(batch(sequence, 2) for sequence in range(0, 14, 2)), batch(3, producer_id=9), base_offset=100)
    restored = PartitionProducers.decode(state.encode())
    assert [restored.check(batch(sequence, 2)).base_offset for sequence in range(4, 14, 2)] == [104, 106, 108, 110, 112]
    assert refusal(restored, batch(2, 2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert restored.encode() == state.encode()


@pytest.mark.parametrize("behind", [b"", b"\x05", b"something else"], ids=["Kafka's", "torn", "of others"])
def test_a_snapshot_with_no_tail_of_ours_still_tells_the_last_batches(behind):
    whole = written(batch(0), batch(1), batch(7, producer_id=9), base_offset=100).encode()
    kafkas = whole[6 : 6 + 4 + 2 * 46] + behind  # without version and CRC: a count and two entries
    snapshot = struct.pack(">hI", 1, crc32c(kafkas)) + kafkas
    restored = PartitionProducers.decode(snapshot)
    assert restored.check(batch(1)).base_offset == 101
    assert restored.check(batch(7, producer_id=9)).base_offset == 102
    assert refusal(restored, batch(0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_snapshot_damaged_anywhere_is_no_snapshot():
    data = written(batch(0, 3)).encode()
    for at in range(len(data)):
        assert PartitionProducers.decode(data[:at]) is None
        assert PartitionProducers.decode(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]) is None


def test_silent_producer_is_forgotten_and_one_that_writes_is_not():
    state = written(batch(0), batch(0, producer_id=8))
    assert state.expire(1_000, 500) == 0
    state.note(batch(1, producer_id=8), 102)
    assert state.expire(1_499, 500) == 0
    assert state.expire(1_500, 500) == 1
    assert [fact.producer_id for fact in state.facts()] == [8]
    assert state.expire(1_998, 500) == 0
    assert state.expire(1_999, 500) == 1


def test_producer_whose_transaction_is_open_is_never_forgotten():
    state = PartitionProducers()
    data = build_batch(
        [Record(0, 1_000, None, b"v")], producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    state.note(parse_batch_header(data), 100)
    for now_ms in (1_000, 10_000):
        assert state.expire(now_ms, 500) == 0
    assert state.first_open_offset_of(7) == 100
    state.note_marker(batch(-1), 101, 0)
    state.expire(20_000, 500)
    assert state.expire(20_500, 500) == 1


def test_batches_without_sequence_numbers_are_all_new():
    """Those of a coordinator, which writes offsets for a producer."""
    state = written(batch(-1, 2), batch(-1, 2))
    assert state.check(batch(-1, 2)) is None
    assert PartitionProducers.decode(state.encode()).check(batch(-1, 2)) is None


def test_batches_without_sequence_numbers_are_fenced_by_epoch():
    assert refusal(written(batch(-1, epoch=3)), batch(-1, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH
