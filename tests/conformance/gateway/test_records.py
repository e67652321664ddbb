"""Reading and producing single records, on the cluster in memory and on real brokers."""

import time

import pytest

from console.kit.gateway.errors import RefusedError
from tests.conformance.gateway.test_gateway import eventually, find_topic

DEADLINE_S = 15


@pytest.fixture
def topic(gateway, topic_name):
    """A topic of two partitions that are led."""
    gateway.create_topic(topic_name, 2, 1)
    eventually(
        lambda: find_topic(gateway, topic_name),
        lambda view: view is not None and all(partition.next_offset is not None for partition in view.partitions),
    )
    return topic_name


@pytest.fixture
def read(gateway, topic):
    """read(starts, count): that many records from there on, and the positions after them."""

    def ask(starts: dict[int, int], count: int, committed_only: bool = True):
        stream = gateway.open_records(topic, starts, committed_only)
        records, until = [], time.monotonic() + DEADLINE_S
        try:
            while len(records) < count:
                assert time.monotonic() < until, records
                records += stream.read(0.2, count - len(records))
            return records, dict(stream.positions)
        finally:
            stream.close()

    return ask


def test_what_is_produced_is_read_back_with_key_headers_and_time(gateway, topic, read):
    before_ms = time.time_ns() // 1_000_000 - 60_000
    headers = (("trace", b"\x00\xff"), ("empty", None), ("trace", b"2"))
    place = gateway.produce_record(topic, 1, b"k", b'{"a": 1}', headers)

    assert place == (1, 0)
    (record,), positions = read({1: 0}, 1)
    assert (record.partition, record.offset, record.key, record.value) == (1, 0, b"k", b'{"a": 1}')
    assert record.headers == headers
    assert record.at_ms > before_ms
    assert positions == {1: 1}


def test_null_and_empty_are_told_apart(gateway, topic, read):
    gateway.produce_record(topic, 0, None, None)
    gateway.produce_record(topic, 0, b"", b"")

    (nothing, empty), _ = read({0: 0}, 2)
    assert (nothing.key, nothing.value) == (None, None)
    assert (empty.key, empty.value) == (b"", b"")


def test_one_key_goes_to_one_partition(gateway, topic):
    places = {gateway.produce_record(topic, None, b"customer-7", b"x")[0] for _ in range(3)}
    assert len(places) == 1


def test_a_partition_that_does_not_exist_takes_no_record(gateway, topic):
    with pytest.raises(RefusedError):
        gateway.produce_record(topic, 99, b"k", b"v")


def test_spans_say_what_can_be_read(gateway, topic, append):
    append(topic, 0, 5)
    spans = gateway.record_spans(topic, committed_only=True)

    assert {partition: (span.first, span.next) for partition, span in spans.items()} == {0: (0, 5), 1: (0, 0)}


def test_a_stream_begins_where_it_is_told_and_steps_to_the_end(gateway, topic, append, read):
    append(topic, 0, 5)
    append(topic, 1, 3)

    records, positions = read({0: 3, 1: 0}, 5)
    assert sorted((record.partition, record.offset) for record in records) == [(0, 3), (0, 4), (1, 0), (1, 1), (1, 2)]
    assert positions == {0: 5, 1: 3}


def test_what_arrives_later_is_read_too(gateway, topic):
    stream = gateway.open_records(topic, {0: 0}, committed_only=True)
    try:
        assert stream.read(0.2, 10) == []
        gateway.produce_record(topic, 0, None, b"later")
        (record,) = eventually(lambda: stream.read(0.2, 10), bool)
        assert record.value == b"later"
    finally:
        stream.close()


def test_a_dropped_partition_brings_nothing_more(gateway, topic, append):
    stream = gateway.open_records(topic, {0: 0, 1: 0}, committed_only=True)
    try:
        stream.drop(0)
        append(topic, 0, 2)
        append(topic, 1, 2)
        seen = []
        until = time.monotonic() + DEADLINE_S
        while len([partition for partition in seen if partition.partition == 1]) < 2:
            assert time.monotonic() < until
            seen += stream.read(0.2, 10)
        assert {partition.partition for partition in seen} == {1}
        assert stream.positions[0] == 0
    finally:
        stream.close()


def test_a_moment_is_found_as_an_offset(gateway, topic, append, read):
    append(topic, 0, 3)
    (first, *_), _ = read({0: 0}, 3)

    assert gateway.offsets_at(topic, first.at_ms, [0, 1]) == {0: 0, 1: None}
    assert gateway.offsets_at(topic, first.at_ms + 3_600_000, [0]) == {0: None}


def test_reading_leaves_no_group_and_no_commit_behind(gateway, topic, append, read):
    append(topic, 0, 3)
    read({0: 0}, 3)

    assert gateway.committed_offsets(topic).offsets == {}


def test_a_topic_nobody_knows_has_no_spans(gateway):
    with pytest.raises(RefusedError):
        gateway.record_spans("no-such-topic", committed_only=True)


def test_records_are_deleted_up_to_an_offset_and_what_cannot_be_is_told(gateway, topic, append):
    append(topic, 0, 5)
    refused = gateway.delete_records(topic, {0: 3, 1: 7, 9: 0})
    assert refused.keys() == {1, 9}
    assert all(refused.values())
    spans = eventually(lambda: gateway.record_spans(topic, False), lambda view: view[0].first == 3)
    assert (spans[0].next, spans[1].first, spans[1].next) == (5, 0, 0)
    assert gateway.delete_records(topic, {0: 1}) == {}
    assert gateway.record_spans(topic, False)[0].first == 3


def test_records_of_a_topic_that_is_compacted_only_are_not_deleted_so(gateway, topic, append):
    append(topic, 0, 5)
    gateway.change_topic_settings(topic, {"cleanup.policy": "compact"})
    eventually(lambda: gateway.delete_records(topic, {0: 3}), lambda refused: refused.keys() == {0})


def test_batches_tell_how_records_were_sent(gateway, topic):
    for number in range(3):
        gateway.produce_record(topic, 1, None, b"%d" % number)

    views = sorted(gateway.batches_at(topic, {0: 0, 1: 1}), key=lambda item: item.base_offset)
    assert [(partition.partition, partition.base_offset, partition.records) for partition in views] == [
        (1, 1, 1),
        (1, 2, 1),
    ]
    assert {item.compression for item in views} == {"none"}
    assert all(item.size_bytes > 0 for item in views)
