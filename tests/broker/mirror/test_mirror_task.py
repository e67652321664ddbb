"""Partitions of one real cluster, copied into another one."""

import itertools
import threading
import uuid

import pytest
from confluent_kafka import Producer

from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import flow, mirroring

MODES = pytest.mark.parametrize("exactly_once", [False, True], ids=["at least once", "exactly once"])


@pytest.fixture
def topic():
    return f"t-{uuid.uuid4().hex[:10]}"


@MODES
def test_records_keep_key_headers_timestamp_and_partition(north, south, topic, exactly_once):
    for side in (north, south):
        side.create(topic, 2)
    for partition in (0, 1):
        north.write(
            topic, [f"{partition}-{number}" for number in range(100)], partition, key="k",
            headers=[("h", b"1"), ("h", None)], timestamp=1_700_000_000_123,
        )  # fmt: skip
    with mirroring(north, south, {topic: 2}, exactly_once=exactly_once):
        for partition in (0, 1):
            await_true(lambda at=partition: len(south.read(topic, at)) == 100, "all is there")
    for partition in (0, 1):
        assert [item[1:] for item in south.read(topic, partition)] == [
            item[1:] for item in north.read(topic, partition)
        ]


@MODES
def test_a_mirror_goes_on_where_the_one_before_it_stopped(north, south, topic, exactly_once):
    for side in (north, south):
        side.create(topic)
    for turn in range(3):
        north.write(topic, [f"{turn}-{number}" for number in range(50)])
        with mirroring(north, south, {topic: 1}, exactly_once=exactly_once):
            await_true(lambda wanted=50 * (turn + 1): len(south.read(topic)) == wanted, "the news are there")
    assert south.values(topic) == north.values(topic)


@MODES
def test_a_mirror_that_began_at_the_end_goes_on_there_though_nothing_came_before_it_stopped(
    north, south, topic, exactly_once
):
    for side in (north, south):
        side.create(topic)
    north.write(topic, ["before"])
    with mirroring(north, south, {topic: 1}, exactly_once=exactly_once, from_end=True) as task:
        (copied,) = task.copies.values()
        await_true(lambda: copied.next_offset == 1 and not copied.is_moved, "that it begins at the end is remembered")
    north.write(topic, ["while nobody copied"])
    with mirroring(north, south, {topic: 1}, exactly_once=exactly_once, from_end=True):
        await_true(lambda: south.values(topic) == [b"while nobody copied"], "it is copied")


@MODES
def test_transactions_arrive_committed_only(north, south, topic, exactly_once):
    for side in (north, south):
        side.create(topic)
    producer = Producer({"bootstrap.servers": north.bootstrap, "transactional.id": topic})
    producer.init_transactions(20)
    for number in range(6):
        producer.begin_transaction()
        north.write(topic, [f"{number}"], producer=producer)
        (producer.commit_transaction if number % 2 else producer.abort_transaction)(20)
    with mirroring(north, south, {topic: 1}, exactly_once=exactly_once):
        await_true(lambda: len(south.read(topic)) == 3, "what was committed is there")
    assert south.values(topic) == [b"1", b"3", b"5"]


@MODES
def test_two_mirrors_of_the_same_names_make_no_loop(north, south, topic, exactly_once):
    for side in (north, south):
        side.create(topic)
    north.write(topic, ["from north 1"])
    south.write(topic, ["from south 1"])
    with (
        mirroring(north, south, {topic: 1}, exactly_once=exactly_once) as to_south,
        mirroring(south, north, {topic: 1}, exactly_once=exactly_once) as to_north,
    ):
        await_true(lambda: len(north.read(topic)) == len(south.read(topic)) == 2, "both have both")
        north.write(topic, ["from north 2"])
        south.write(topic, ["from south 2"])
        await_true(lambda: len(north.read(topic)) == len(south.read(topic)) == 4, "both have all")
        for task in (to_south, to_north):
            (copied,) = task.copies.values()
            await_true(lambda copied=copied: copied.skipped == 2, "what comes back is passed by")
    assert sorted(north.values(topic)) == sorted(south.values(topic))
    assert len(set(north.values(topic))) == 4


def test_compacted_and_log_append_times_are_packed_anew(north, south, topic):
    north.create(topic, message_timestamp_type="LogAppendTime")
    south.create(topic)
    north.write(topic, [f"{number}" for number in range(20)], timestamp=1)
    with mirroring(north, south, {topic: 1}):
        await_true(lambda: len(south.read(topic)) == 20, "all is there")
    assert [item[4][1] for item in south.read(topic)] == [item[4][1] for item in north.read(topic)]


@pytest.mark.long
@MODES
def test_what_compaction_has_left_of_transactions_is_copied_and_its_offsets_are_translated(
    north, south, topic, exactly_once
):
    soon = {"segment_ms": "200", "min_cleanable_dirty_ratio": "0.01", "max_compaction_lag_ms": "500"}
    north.create(topic, cleanup_policy="compact", **soon)
    south.create(topic)
    producer = Producer({"bootstrap.servers": north.bootstrap, "transactional.id": topic})
    producer.init_transactions(20)
    for turn in range(30):
        producer.begin_transaction()
        for number in range(10):
            producer.produce(topic, f"{turn}-{number}", key=f"{(turn * 7 + number) % 23}", partition=0)
        (producer.commit_transaction if turn % 3 else producer.abort_transaction)(20)

    def is_compacted():
        north.write(topic, ["a segment begins"], key="last")
        return len(north.read(topic)) < 100

    await_true(is_compacted, "most of it is gone", 90)
    with mirroring(north, south, {topic: 1}, exactly_once=exactly_once) as task:
        north.write(topic, ["the end"], key="last")
        await_true(lambda: south.values(topic)[-1:] == [b"the end"], "all is there", 60)
        (copied,) = task.copies.values()
        await_true(lambda: not copied.is_moved, "it is remembered")
        of = [{key: value for _, key, value, _, _ in side.read(topic)} for side in (north, south)]
        assert of[0] == of[1]
        by_value = {value: offset for offset, _, value, _, _ in south.read(topic)}
        for offset, _, value, _, _ in north.read(topic):
            assert copied.runs.target_of(offset).offset <= by_value[value]


def test_a_topic_made_anew_under_its_name_is_copied_from_its_beginning(north, south, topic):
    for side in (north, south):
        side.create(topic)
    north.write(topic, [f"old-{number}" for number in range(5)])
    with mirroring(north, south, {topic: 1}) as task:
        await_true(lambda: len(south.read(topic)) == 5, "the old ones are there")
        north.admin.delete_topics([topic])[topic].result(20)
        await_true(lambda: topic not in north.admin.list_topics(timeout=10).topics, "it is gone")
        north.create(topic)
        north.write(topic, [f"new-{number}" for number in range(9)])
        await_true(lambda: len(south.read(topic)) == 14, "the new ones are there")
        (copied,) = task.copies.values()
        assert "recreated" in copied.notice


@MODES
def test_offsets_are_translated_record_by_record(north, south, topic, exactly_once):
    for side in (north, south):
        side.create(topic)
    south.write(topic, ["something else"] * 7)
    with mirroring(north, south, {topic: 1}, exactly_once=exactly_once) as task:
        for turn in range(3):
            north.write(topic, [f"{turn}-{number}" for number in range(40)])
            await_true(lambda wanted=7 + 40 * (turn + 1): len(south.read(topic)) == wanted, "the news are there")
        (copied,) = task.copies.values()
        await_true(lambda: not copied.is_moved and copied.next_offset == 120, "all is remembered")
        by_value = {value: offset for offset, _, value, _, _ in south.read(topic)}
        for offset, _, value, _, _ in north.read(topic):
            assert copied.runs.target_of(offset).offset <= by_value[value]
            assert copied.runs.target_of(offset).is_exact
            following = copied.runs.target_of(offset + 1).offset
            assert following > by_value[value]


def test_a_lane_that_is_fenced_in_the_middle_of_a_transaction_goes_on_and_holds_up_no_other(north, south, topic):
    for side in (north, south):
        side.create(topic, 2)
    is_enough = threading.Event()

    def write():
        producer = Producer({"bootstrap.servers": north.bootstrap, "linger.ms": 0})
        for number in itertools.count():
            for partition in (0, 1):
                producer.produce(topic, f"{number}", partition=partition)
            producer.poll(0)
            if is_enough.wait(0.005):
                break
        assert producer.flush(30) == 0

    writing = threading.Thread(target=write)
    writing.start()
    with mirroring(north, south, {topic: 2}, exactly_once=True, commit_interval_s=20) as task:
        await_true(lambda: all(copy.is_moved for copy in task.copies.values()), "both have an open transaction")
        with south.connect() as cluster:
            name = f"mirror.{flow(north, south).name}.{topic}-0"
            cluster.ask_any(InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000))
        await_true(lambda: not any(copy.is_moved for copy in task.copies.values()), "it has begun again")
        await_true(lambda: all(copy.is_moved for copy in task.copies.values()), "both go on", 30)
        is_enough.set()
        writing.join()
        ends = [len(north.read(topic, partition)) for partition in (0, 1)]
        await_true(lambda: [copy.next_offset for copy in task.copies.values()] == ends, "all is copied", 30)
    for partition in (0, 1):
        assert south.values(topic, partition) == north.values(topic, partition)
