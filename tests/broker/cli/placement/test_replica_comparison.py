import pytest

from broker.cli.frame.declaration import CommandError
from broker.cli.placement.replica_comparison import Batch, Compared, ReplicaRead, batches_of, report
from broker.common.types import TopicPartition
from broker.records.builder import build_batch
from broker.records.record import Record

PARTITION = TopicPartition("t", 0)
ONE, TWO, THREE = Batch(4, 11), Batch(5, 12), Batch(9, 13)


def compared(offset: int = 0) -> Compared:
    return Compared(PARTITION, (1, 2), offset)


def test_what_every_replica_has_is_passed_and_what_one_lacks_is_lag():
    item = compared()
    assert item.compare({1: ReplicaRead((ONE, TWO, THREE), 10), 2: ReplicaRead((ONE, TWO), 6)}) == []
    assert (item.offset, item.lag) == (6, 4)
    assert item.compare({1: ReplicaRead((THREE,), 10), 2: ReplicaRead((THREE,), 10)}) == []
    assert (item.offset, item.lag) == (10, 0)


def test_nothing_is_passed_that_one_replica_could_not_be_asked_for():
    item = compared()
    assert item.compare({1: ReplicaRead((ONE,), 5)}) == []
    assert (item.offset, item.lag) == (0, 5)


def test_another_checksum_is_told_and_it_goes_on():
    item = compared()
    messages = item.compare({1: ReplicaRead((ONE, TWO), 6), 2: ReplicaRead((Batch(4, 99), TWO), 6)})
    assert messages == [
        "partition t-0 has unmatched checksum at offset 4; replica 1's checksum 11; replica 2's checksum 99"
    ]
    assert item.offset == 6


def test_another_offset_is_the_end():
    with pytest.raises(CommandError) as raised:
        compared().compare({1: ReplicaRead((TWO,), 6), 2: ReplicaRead((ONE,), 6)})
    assert str(raised.value) == "partition t-0: replica 1's offset 5 doesn't match replica 2's offset 4"
    assert raised.value.on_stdout


def test_the_worst_is_reported():
    behind = Compared(TopicPartition("u", 3), (1,), 5, high_watermark=9)
    assert report([compared(), behind]) == "max lag is 4 for partition u-3 at offset 5 among 2 partitions"


def test_batches_before_the_offset_and_those_cut_off_are_left_out():
    first, second = (bytes(build_batch([Record(0, 1, None, value)])) for value in (b"a", b"b"))
    second = (7).to_bytes(8) + second[8:]
    assert [segment.last_offset for segment in batches_of(first + second, 0)] == [0, 7]
    assert [segment.last_offset for segment in batches_of(first + second, 5)] == [7]
    assert [segment.last_offset for segment in batches_of((first + second)[:-1], 0)] == [0]
    assert batches_of(None, 0) == ()
