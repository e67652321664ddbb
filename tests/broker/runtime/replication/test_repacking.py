"""Batches on their way to a topic with a codec: packed on other threads, appended in the order they came in."""

import asyncio
import threading
from types import SimpleNamespace
from uuid import UUID

import pytest
from crc32c import crc32c

from broker.common.clock import SystemClock
from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import REPACKING_BYTES_MAX
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.produce import PartitionProduceData
from broker.records.batch import CHECKED_FROM, CRC, CRC_AT, HEADER, Compression, parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication import repacking as module
from broker.runtime.replication.repacking import Repacking
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually

T, U = TopicPartition("t", 0), TopicPartition("u", 0)


def leading(*topics: str) -> LeaderAndIsrRequest:
    states = [
        LeaderAndIsrTopicState(
            topic_name=topic,
            topic_id=UUID(int=number),
            partition_states=[LeaderAndIsrPartitionState(leader=1, isr=[1], replicas=[1])],
        )
        for number, topic in enumerate(topics, start=1)
    ]
    return LeaderAndIsrRequest(topic_states=states)


@pytest.fixture
def world(tmp_path):
    """Topics t and u, packed as lz4; `appended` has what came through, `threads` who packed."""
    clock = SystemClock()
    logs = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    logs.load_all()
    replicas = ReplicaManager(1, logs, DelayedFetches(clock), clock)
    repacking = Repacking(replicas)
    lz4 = LogConfig(compression_type="lz4")
    apply_leader_and_isr(replicas, leading("t", "u"), {"t": lz4, "u": lz4})
    yield SimpleNamespace(replicas=replicas, repacking=repacking, appended=[])
    logs.shutdown()


@pytest.fixture
def threads(monkeypatch):
    """Each packing waits on a worker thread until the test lets all go on."""
    threads = SimpleNamespace(begun=0, may_go_on=threading.Event())
    repack = module._repack

    def wait(*arguments):
        assert threading.current_thread() is not threading.main_thread(), "the loop waits for a codec"
        threads.begun += 1
        assert threads.may_go_on.wait(30)
        return repack(*arguments)

    monkeypatch.setattr(module, "_repack", wait)
    yield threads
    threads.may_go_on.set()


def sent(name: str, compression: Compression = Compression.NONE, *partitions: TopicPartition) -> list:
    batch = bytes(build_batch([Record(0, 1, None, name.encode() * 100)], compression=compression))
    return [(partition, PartitionProduceData(index=0, records=batch)) for partition in partitions or (T,)]


def begin(world, name: str, batches: list):
    """The task of the request, or None if it was appended at once."""

    def append_all(guard):
        append = guard(lambda topic_partition, batch: parse_batch_header(batch).compression)
        world.appended.append((name, {append(batch, data.records) for batch, data in batches}))

    reply = world.repacking.when_packed(batches, append_all)
    return asyncio.ensure_future(reply) if reply is not None else None


def names(world) -> list[str]:
    return [name for name, _ in world.appended]


async def test_batches_are_appended_in_their_order_whatever_had_to_be_done_with_each(world, threads):
    tasks = [begin(world, "a", sent("a")), begin(world, "b", sent("b", Compression.LZ4)), begin(world, "c", sent("c"))]
    other = begin(world, "u", sent("u", Compression.LZ4, U))
    assert (other, names(world)) == (None, ["u"]), "another partition's line is another"
    threads.may_go_on.set()
    await asyncio.gather(*tasks)
    assert world.appended[1:] == [(name, {Compression.LZ4}) for name in "abc"]
    assert begin(world, "d", sent("d", Compression.LZ4)) is None, "nothing is left of the line"


async def test_who_hangs_up_in_the_middle_of_a_line_lets_nobody_overtake(world, threads):
    first, second, third = (begin(world, name, sent(name)) for name in "abc")
    await eventually(lambda: threads.begun == 2, "two are being packed")
    second.cancel()
    await asyncio.wait([second])
    assert names(world) == []
    threads.may_go_on.set()
    await asyncio.gather(first, third)
    assert names(world) == ["a", "c"]


async def test_request_over_several_lines_waits_for_all_of_them(world, threads):
    both = begin(world, "both", sent("both", Compression.NONE, T, U))
    after = [begin(world, "t", sent("t", Compression.LZ4)), begin(world, "u", sent("u", Compression.LZ4, U))]
    await eventually(lambda: threads.begun == 1, "the first is being packed")
    assert names(world) == []
    threads.may_go_on.set()
    await asyncio.gather(both, *after)
    assert names(world)[0] == "both"


async def test_what_would_make_too_much_wait_is_to_be_sent_again(world, threads):
    waiting = begin(world, "a", sent("a"))
    world.repacking._bytes_waiting += REPACKING_BYTES_MAX
    with pytest.raises(ApiError) as refused:
        begin(world, "b", sent("b"))
    assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert refused.value.code.retriable
    threads.may_go_on.set()
    await waiting
    assert names(world) == ["a"]


def configured(world, compression_type: str) -> set[TopicPartition]:
    world.replicas.configure(world.replicas.get(*T), LogConfig(compression_type=compression_type))
    return world.repacking.partitions


async def test_codec_is_followed_from_the_next_batch_on_when_it_changes(world):
    assert configured(world, "producer") == {U}
    assert configured(world, "gzip") == {T, U}
    await begin(world, "a", sent("a", Compression.LZ4))
    assert configured(world, "uncompressed") == {T, U}
    await begin(world, "b", sent("b", Compression.ZSTD))
    assert world.appended == [("a", {Compression.GZIP}), ("b", {Compression.NONE})]


@pytest.mark.parametrize("is_hosted", [True, False])
async def test_who_comes_after_the_codec_was_taken_away_overtakes_nobody_who_waits(world, threads, is_hosted):
    first = begin(world, "a", sent("a"))
    await eventually(lambda: threads.begun, "it is being packed")
    if is_hosted:
        configured(world, "producer")
    else:
        world.replicas.stop_replica(T, delete=True)
    assert world.repacking.partitions == {T, U}, "or a request would not even come to the line"
    second = begin(world, "b", sent("b"))
    assert names(world) == []
    threads.may_go_on.set()
    await asyncio.gather(first, second)
    assert names(world) == ["a", "b"]
    assert world.repacking.partitions == {U}


async def test_only_what_clients_write_to_a_leader_is_looked_at(world):
    packed = LogConfig(compression_type="uncompressed")
    apply_leader_and_isr(world.replicas, leading(TRANSACTION_TOPIC), {TRANSACTION_TOPIC: packed})
    assert world.repacking.partitions == {T, U}
    world.replicas.stop_replica(T, delete=False)
    assert world.repacking.partitions == {U}


async def test_batch_that_cannot_be_unpacked_is_refused(world):
    lying = build_batch([Record(0, 1, None, b"x" * 100)])
    HEADER.pack_into(lying, 0, *parse_batch_header(lying)._replace(attributes=Compression.ZSTD))
    CRC.pack_into(lying, CRC_AT, crc32c(memoryview(lying)[CHECKED_FROM:]))
    with pytest.raises(ApiError) as refused:
        await begin(world, "a", [(T, PartitionProduceData(index=0, records=bytes(lying)))])
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
    assert begin(world, "b", sent("b", Compression.LZ4)) is None, "the line is free"
