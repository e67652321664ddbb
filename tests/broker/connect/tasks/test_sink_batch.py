"""What a sink's task is put of a batch, in the order read, and what it may report of it."""

from broker.connect.api import ConnectPartition, Schema, SinkColumns, Type
from broker.connect.tasks.sink_batch import SinkBatch
from tests.broker.connect.plugins.runner import sink_record


class Message:
    def __init__(self, offset, topic="t", partition=0):
        self._place = topic, partition, offset

    def topic(self):
        return self._place[0]

    def partition(self):
        return self._place[1]

    def offset(self):
        return self._place[2]


def columns(*offsets, topic="t"):
    return SinkColumns(topic, 0, list(offsets), [0] * len(offsets), Schema(Type.STRUCT), [])


def filled():
    """Records at 0, 3 and 9 of another topic, columns of 1 and 2."""
    batch = SinkBatch()
    batch.add(sink_record(0, "a"), Message(0))
    batch.add_columns(columns(1, 2), [Message(1), Message(2)])
    batch.add(sink_record(3, "b"), Message(3))
    batch.add(sink_record(9, "c", topic="renamed"), Message(9, "other"))
    batch.ends = {ConnectPartition("t", 0): 4, ConnectPartition("other", 0): 10}
    return batch


def offsets_of(batch):
    return [part.offsets if isinstance(part, SinkColumns) else [r.offset for r in part] for part in batch.parts()]


def test_parts_are_in_the_order_read():
    assert offsets_of(filled()) == [[0], [1, 2], [3, 9]]
    assert SinkBatch().parts() == [[]]


def test_a_record_of_columns_may_be_reported_as_any_other_also_behind_the_put():
    batch = filled()
    batch.taken()
    assert batch.parts() == [[]]
    assert [batch.message_of(sink_record(at, "x")).offset() for at in (0, 2, 3)] == [0, 2, 3]
    assert batch.message_of(sink_record(9, "c", topic="renamed")).topic() == "other"
    batch.forget_messages()
    assert batch.message_of(sink_record(2, "x")) is None


def test_records_of_two_topics_that_a_transform_made_one_are_told_apart():
    batch = SinkBatch()
    ones, others = sink_record(5, "one", topic="all"), sink_record(5, "other", topic="all")
    batch.add(ones, Message(5, "one"))
    batch.add(others, Message(5, "other"))
    assert [batch.message_of(item).topic() for item in (ones, others)] == ["one", "other"]
    assert batch.where_of([ones, others]) == "at the record at one-0@5, or at the record at other-0@5"
    batch.drop({ConnectPartition("one", 0)})
    assert batch.parts() == [[others]]


def test_what_was_read_from_a_partition_that_went_is_put_no_more_also_in_the_midst_of_a_put():
    batch = filled()
    put = []
    for part in batch.parts():
        put.append(part)
        batch.drop({ConnectPartition("t", 0)})
    assert [len(part) for part in put] == [1, 0, 1]
    assert offsets_of(batch) == [[], [], [9]]
    assert batch.ends == {ConnectPartition("other", 0): 10}


def test_what_was_put_is_named_from_where_to_where_in_each_partition():
    batch = filled()
    places = [batch.where_of(part) for part in (*batch.parts(), [])]
    assert places == [
        "at the record at t-0@0",
        "between the record at t-0@1 and the record at t-0@2",
        "at the record at t-0@3, or at the record at other-0@9",
        "",
    ]


def test_of_many_partitions_some_are_named_and_the_others_counted():
    records = [sink_record(7, "x", topic=f"topic-{number}") for number in range(10)]
    assert SinkBatch().where_of(records).endswith("topic-7-0@7 and 2 partitions more")
