"""What a sink is given of partitions with a batch that cannot be unpacked and may not be left out."""

from types import SimpleNamespace

import pytest

from broker.client.record_reader import LeftOutBatch, RecordRun
from broker.common.types import TopicPartition
from broker.connect.api import ConnectError
from broker.connect.tasks.sink_consumer import SinkConsumer
from broker.records.record import Record

BAD, BUSY = TopicPartition("t", 0), TopicPartition("t", 1)


class BadBatchAt5:
    """A reader of two partitions: one has a batch at offset 5 that breaks off at offset 7, the other is never at its
    end."""

    is_reading = True

    def __init__(self, position: int):
        self.position = position
        self.busy_position = 0
        self.left_out: list[LeftOutBatch] = []

    def read(self, _timeout_s: float, records_max: int) -> list[RecordRun]:
        records = [Record(offset, 0, b"k", b"v") for offset in range(self.position, 7)][: records_max - 1]
        self.position += len(records)
        if len(records) < records_max - 1:
            self.left_out.append(LeftOutBatch(BAD, 5, 9, "it is damaged"))
        self.busy_position += 1
        busy = RecordRun(BUSY, False, [Record(self.busy_position, 0, b"k", b"v")])
        return [busy, RecordRun(BAD, False, records)]

    def take_left_out(self) -> list[LeftOutBatch]:
        taken, self.left_out = self.left_out, []
        return taken

    def seek(self, _partition: TopicPartition, offset: int) -> None:
        self.position = offset


@pytest.mark.parametrize(("records_max", "delivered"), [(9, [3, 4]), (4, [3, 4, 5]), (3, [3, 4, 5, 6])])
def test_a_batch_that_may_not_be_left_out_ends_the_task_though_other_partitions_bring_records(records_max, delivered):
    consumer = SinkConsumer.__new__(SinkConsumer)
    consumer._reader, consumer._leaves_out = BadBatchAt5(3), lambda _batch: False
    consumer._group = SimpleNamespace(consume=lambda *_: [])
    read: list[int] = []
    with pytest.raises(ConnectError, match="offsets 5 to 9"):
        consume_all(consumer, records_max, read)
    assert read == delivered


def consume_all(consumer: SinkConsumer, records_max: int, read: list[int]) -> None:
    """Add the offsets of the partition with the batch to `read`; 20 calls at most."""
    for _ in range(20):
        read += [
            partition.offset()
            for partition in consumer.consume(records_max, 0)
            if partition.partition() == BAD.partition
        ]
