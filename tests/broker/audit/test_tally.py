"""Counting by windows."""

import random

import pytest

from broker.audit.increment import AuditTier, BadIncrement, Increment
from broker.audit.tally import NO_WINDOW, CountedRecord, RecordTally, WindowCounter, fingerprint
from broker.common.types import TopicPartition
from tests.broker.audit.made import MINUTE, increment_of, records, windows_of

HERE = TopicPartition("t", 0)


def test_the_order_of_records_does_not_matter_to_a_tally():
    some = records(*range(50))
    mixed = random.Random(1).sample(some, len(some))
    assert windows_of(*some) == windows_of(*mixed)


def test_increments_add_up_to_what_is_counted_at_once():
    some = records(*range(50))
    (first,), (rest,), (whole,) = (windows_of(*part).values() for part in (some[:20], some[20:], some))
    assert first + rest == whole
    assert first + RecordTally() == RecordTally() + first == first


def test_a_lost_record_and_another_twice_leave_the_count_and_change_the_checksum():
    (whole,) = windows_of(*records(1, 2, 3)).values()
    (other,) = windows_of(*records(1, 3, 3)).values()
    assert whole.count == other.count
    assert whole.checksum != other.checksum


def test_two_copies_of_one_record_do_not_cancel_each_other():
    (once,), (thrice,) = (windows_of(*records(*item)).values() for item in ((1,), (1, 1, 1)))
    assert once.checksum != thrice.checksum


def test_a_null_is_not_an_empty_string_and_a_key_is_not_part_of_the_value():
    pairs = [(None, b""), (b"", None), (b"", b""), (None, None), (b"a", b"b"), (b"", b"ab"), (b"ab", b"")]
    assert len({fingerprint(*pair) for pair in pairs}) == len(pairs)


def test_a_late_record_belongs_to_its_own_window_and_one_without_time_to_none():
    windows = windows_of((5 * MINUTE, 0, b""), (MINUTE - 1, 1, b""), (-1, 2, b""))
    assert set(windows) == {5 * MINUTE, 0, NO_WINDOW}


def test_a_counter_refuses_a_window_too_many_and_counts_nothing_of_it():
    counter = WindowCounter(windows_max=2)
    for minute in (0, 1):
        counter.add(HERE, CountedRecord(minute * MINUTE, minute, None, b""))
    assert counter.is_full
    with pytest.raises(OverflowError):
        counter.add(HERE, CountedRecord(2 * MINUTE, 2, None, b""))
    ((_, windows),) = counter.drain()
    assert sorted(windows) == [0, MINUTE]
    assert not counter.is_full
    assert list(counter.drain()) == []


def test_an_increment_comes_back_as_it_was_written():
    increment = increment_of(AuditTier.APPENDED, *records(3, 4), epoch="x", sequence=7)
    assert Increment.from_bytes(increment.to_bytes()) == increment


@pytest.mark.parametrize("data", [None, b"", b"[]", b"{}", b'{"format": 2}', b'{"format": 1, "chain": [1]}', b"\xff"])
def test_what_is_no_increment_is_refused(data):
    with pytest.raises(BadIncrement):
        Increment.from_bytes(data)
