"""Records that lie on the disk only are read by a worker thread before the loop touches them."""

import asyncio
import errno
import os
import threading

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.log import cold_parts
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.broker.server.conftest import TOPIC_ID
from tests.broker.server.test_bad_input import batch_of, produce


class PageCache:
    """What is not in it until a worker thread has read it."""

    def __init__(self, preadv):
        self.is_cold = True
        self.nowait_reads = self.reads = 0
        self.may_read = threading.Event()
        self.has_begun = threading.Event()
        self.error: OSError | None = None
        self._preadv = preadv

    def preadv(self, fd, buffers, position, flags=0):
        if flags & os.RWF_NOWAIT:
            self.nowait_reads += 1
            if self.error is not None:
                raise self.error
            if self.is_cold:
                raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        else:
            assert threading.current_thread() is not threading.main_thread(), "the loop waits for the disk"
            self.has_begun.set()
            assert self.may_read.wait(30)
            self.reads += 1
        return self._preadv(fd, buffers, position, flags & ~os.RWF_NOWAIT)


@pytest.fixture
def page_cache(monkeypatch):
    page_cache = PageCache(os.preadv)
    page_cache.may_read.set()
    monkeypatch.setattr(cold_parts.os, "preadv", page_cache.preadv)
    yield page_cache
    page_cache.may_read.set()


@pytest.fixture
async def old(served):
    """Topic t with several segments."""
    served.store.configs["t"] = {"segment.bytes": "2000", "index.interval.bytes": "100"}
    served.lead("t")
    served.lead("u")
    await served.topic_configs.apply("t")
    log = served.replicas.get("t", 0).log
    while len(log.segments) < 4:
        served.replicas.append(TopicPartition("t", 0), build_batch([Record(0, 1, b"k", b"v" * 200)]))
    return served


def fetch(offset: int, max_wait_ms: int = 0) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1_000)
    return FetchRequest(
        max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1_000, topics=[FetchTopic(topic="t", partitions=[partition])]
    )


async def ask(served, offset: int):
    return (await (await served.client()).ask(fetch(offset), 12)).responses[0].partitions[0]


async def test_what_is_cold_is_answered_when_it_was_read_and_others_meanwhile(old, page_cache):
    page_cache.may_read.clear()
    consumer, producer = await old.client(), await old.client()
    await consumer.send_request(fetch(0), 12)
    assert await asyncio.to_thread(page_cache.has_begun.wait, 10)
    written = (await producer.ask(produce(batch_of(b"x"), topic="u"), 9)).responses[0].partition_responses[0]
    assert written.error_code == ErrorCode.NONE
    page_cache.may_read.set()
    answer = (await consumer.answer(FetchRequest.api, 12)).responses[0].partitions[0]
    assert answer.error_code == ErrorCode.NONE
    assert int.from_bytes(bytes(answer.records)[:8]) == 0
    assert page_cache.reads


async def test_what_is_in_memory_is_answered_at_once(old, page_cache):
    await ask(old, 0)
    page_cache.is_cold, page_cache.reads = False, 0
    assert (await ask(old, 0)).records
    assert page_cache.nowait_reads
    assert page_cache.reads == 0


async def test_the_hot_end_is_not_asked_about(old, page_cache):
    page_cache.nowait_reads = 0
    end = old.replicas.get("t", 0).log.log_end_offset
    assert (await ask(old, end - 1)).records
    assert page_cache.nowait_reads == page_cache.reads == 0


async def test_a_file_system_that_does_not_say_has_nothing_cold(old, page_cache):
    await ask(old, 0)
    page_cache.error, page_cache.reads = OSError(errno.EOPNOTSUPP, "Operation not supported"), 0
    assert (await ask(old, 0)).records
    assert page_cache.reads == 0


async def test_an_index_that_is_missing_is_made_anew_by_a_worker_thread(old, page_cache, monkeypatch):
    log = old.replicas.get("t", 0).log
    segment = log.segments[1]
    log._segments.release_sealed()
    segment.files.index.unlink()
    is_elsewhere, store_indexes = [], cold_parts.Segment.store_indexes

    def note(segment) -> None:
        is_elsewhere.append(threading.current_thread() is not threading.main_thread())
        store_indexes(segment)

    monkeypatch.setattr(cold_parts.Segment, "store_indexes", note)
    answer = await ask(old, segment.base_offset + 3)
    assert int.from_bytes(bytes(answer.records)[:8]) == segment.base_offset + 3
    assert is_elsewhere == [True]
    assert segment.files.index.stat().st_size


async def test_an_offset_out_of_range_is_refused_without_a_look_at_the_disk(old, page_cache):
    old.replicas.get("t", 0).log.delete_records(5, high_watermark=5)
    assert (await ask(old, 1)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert page_cache.nowait_reads == page_cache.reads == 0


# --- followers


def following(session_id: int = 0, session_epoch: int = 0, *topics: str) -> FetchRequest:
    """As broker 2, which holds nothing yet."""
    partition = FetchPartition(partition=0, fetch_offset=0, log_start_offset=0, partition_max_bytes=1_000)
    return FetchRequest(
        replica_id=2,
        max_wait_ms=20_000,
        max_bytes=10_000,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic=topic, partitions=[partition]) for topic in topics],
    )


@pytest.fixture
async def followed(old):
    """Broker 2 is to follow t."""
    state = LeaderAndIsrPartitionState(
        partition_index=0, leader=1, leader_epoch=1, isr=[1], replicas=[1, 2], partition_epoch=1
    )
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[state])
    request = LeaderAndIsrRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, topic_states=[topic])
    answer = await (await old.member()).ask(request, 7)
    assert answer.topics[0].partition_errors[0].error_code == ErrorCode.NONE
    return old


async def test_a_follower_gets_what_is_cold_when_it_was_read_and_others_are_served_meanwhile(followed, page_cache):
    page_cache.may_read.clear()
    follower, producer = await followed.member(), await followed.client()
    first = await follower.ask(following(0, 0, "t"), 12)
    assert (first.error_code, first.responses) == (ErrorCode.NONE, [])
    assert await asyncio.to_thread(page_cache.has_begun.wait, 10)
    await follower.send_request(following(first.session_id, 1), 12)
    written = (await producer.ask(produce(batch_of(b"x"), topic="u"), 9)).responses[0].partition_responses[0]
    assert written.error_code == ErrorCode.NONE
    page_cache.may_read.set()
    sent = (await follower.answer(FetchRequest.api, 12)).responses[0].partitions[0]
    assert sent.error_code == ErrorCode.NONE
    assert int.from_bytes(bytes(sent.records)[:8]) == 0
    assert page_cache.reads


async def test_a_follower_gets_all_that_is_cold_piece_by_piece(followed, page_cache):
    follower, log = await followed.member(), followed.replicas.get("t", 0).log
    answer, offsets = await follower.ask(following(0, 0, "t"), 12), []
    for epoch in range(1, 200):
        answer = await follower.ask(following(answer.session_id, epoch), 12)
        for partition in (partition for topic in answer.responses for partition in topic.partitions):
            offsets.append(int.from_bytes(bytes(partition.records)[:8]))
        if offsets[-1:] >= [log.segments[-1].base_offset]:
            break
    assert offsets == sorted(set(offsets))
    assert offsets[0] == 0
    assert offsets[-1] >= log.segments[-1].base_offset
