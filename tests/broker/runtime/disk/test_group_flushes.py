"""Topics that have each record fsynced before anybody is told of it (flush.messages)."""

import asyncio
import errno
import threading
from dataclasses import replace

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.log.segment import Segment
from broker.protocol.messages.produce import ProduceRequest
from broker.runtime.replication import leader_flushes
from tests.broker.server.conftest import Served
from tests.broker.server.test_bad_input import batch_of, produce
from tests.broker.server.test_transactions import data
from tests.eventually import eventually


class SlowDisk:
    """Counts fsyncs of segments, which stand still until they may go on."""

    def __init__(self, flush):
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()
        self.flushes = 0
        self.is_over = False
        self.error: OSError | None = None
        self._flush = flush

    def stand_still(self) -> None:
        self.may_go_on.clear()
        self.has_begun.clear()

    def flush(self, segment) -> None:
        is_elsewhere = threading.current_thread() is not threading.main_thread()
        assert is_elsewhere or self.is_over, "the loop waits for the disk"
        self.flushes += 1
        self.has_begun.set()
        assert self.may_go_on.wait(30)
        if self.error is not None:
            raise self.error
        self._flush(segment)


@pytest.fixture
def disk(monkeypatch):
    flush = Segment.flush
    disk = SlowDisk(flush)
    with monkeypatch.context() as patched:
        patched.setattr(Segment, "flush", lambda segment: disk.flush(segment))
        yield disk
        disk.may_go_on.set()


@pytest.fixture
async def served(tmp_path, disk):
    """Topic t, each of whose records is fsynced."""
    served = Served(tmp_path)
    served.lead("t")
    log = served.replicas.get("t", 0).log
    log.config = replace(log.config, flush_messages=1)
    yield served
    disk.may_go_on.set()
    await served.replicas.logs.idle()
    disk.is_over, disk.error = True, None
    served.stop()


async def begun(disk) -> None:
    assert await asyncio.to_thread(disk.has_begun.wait, 10)


@pytest.mark.parametrize("acks", [1, -1])
async def test_a_producer_is_answered_when_its_records_are_safe_and_others_meanwhile(served, disk, acks):
    disk.stand_still()
    served.lead("u")
    producer, other = await served.client(), await served.client()
    await producer.send_request(produce(batch_of(b"x"), acks=acks), 9)
    await begun(disk)
    written = (await other.ask(produce(batch_of(b"x"), topic="u", acks=-1), 9)).responses[0].partition_responses[0]
    assert written.error_code == ErrorCode.NONE
    hosted = served.replicas.get("t", 0)
    assert (hosted.log.log_end_offset, hosted.partition.high_watermark) == (1, 0), "no consumer sees it"
    disk.may_go_on.set()
    answer = (await producer.answer(ProduceRequest.api, 9)).responses[0].partition_responses[0]
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    assert hosted.log.recovery_point == hosted.partition.high_watermark == 1


async def test_one_fsync_is_for_all_who_wait(served, disk):
    disk.stand_still()
    producers = [await served.client() for _ in range(10)]
    await producers[0].send_request(produce(batch_of(b"x")), 9)
    await begun(disk)
    for producer in producers[1:]:
        await producer.send_request(produce(batch_of(b"x")), 9)
    await eventually(lambda: served.replicas.get("t", 0).log.log_end_offset == 10, "all are written")
    disk.may_go_on.set()
    for producer in producers:
        answer = (await producer.answer(ProduceRequest.api, 9)).responses[0].partition_responses[0]
        assert answer.error_code == ErrorCode.NONE
    assert disk.flushes == 2
    assert served.replicas.get("t", 0).partition.high_watermark == 10
    assert not served.replicas.get("t", 0).log.is_flush_due


async def test_a_producer_hears_of_an_fsync_that_failed(served, disk):
    disk.error = OSError(5, "Input/output error")
    answer = (await (await served.client()).ask(produce(batch_of(b"x")), 9)).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert served.replicas.get("t", 0).partition.high_watermark == 0


async def test_a_record_its_followers_held_before_the_leader_is_committed_when_the_leader_holds_it(served, disk):
    served.lead_with_follower("t", follower=2)
    disk.stand_still()
    hosted = served.replicas.get("t", 0)
    served.replicas.append(TopicPartition("t", 0), batch_of(b"x"), is_for_all=True)
    await begun(disk)
    served.replicas.follower_holds(hosted, 2, 1, -1)
    assert hosted.partition.high_watermark == 0
    disk.may_go_on.set()
    await eventually(lambda: hosted.partition.high_watermark == 1, "it is committed")


async def test_followers_that_leave_the_isr_commit_nothing_the_leader_has_not_fsynced(served, disk):
    """Nor does the leader's own epoch that begins with it: what it wrote in the last one counts no sooner."""
    served.lead_with_follower("t", follower=2)
    disk.stand_still()
    hosted = served.replicas.get("t", 0)
    served.replicas.append(TopicPartition("t", 0), batch_of(b"x"), is_for_all=True)
    await begun(disk)
    served.lead("t", leader_epoch=2)
    assert (hosted.partition.state.isr, hosted.partition.high_watermark) == ((1,), 0)
    disk.may_go_on.set()
    await eventually(lambda: hosted.partition.high_watermark == 1, "it is committed")


async def test_what_was_written_by_other_settings_counts_for_a_new_leader_when_it_is_fsynced(served, disk):
    served.lead("u")
    hosted = served.replicas.get("u", 0)
    served.lead("u", leader=2, leader_epoch=1)
    hosted.log.append(batch_of(b"x"), 0, 0)
    hosted.log.config = replace(hosted.log.config, flush_messages=1)
    disk.stand_still()
    served.lead("u", leader_epoch=2)
    await begun(disk)
    assert hosted.partition.high_watermark == 0
    disk.may_go_on.set()
    await eventually(lambda: hosted.partition.high_watermark == 1, "it is committed")


async def test_an_fsync_for_which_no_descriptor_was_left_is_tried_again(served, disk, monkeypatch):
    monkeypatch.setattr(leader_flushes, "AGAIN_S", 0)
    disk.error = OSError(errno.EMFILE, "Too many open files")
    client, hosted = await served.client(), served.replicas.get("t", 0)
    refused = (await client.ask(produce(batch_of(b"x")), 9)).responses[0].partition_responses[0]
    assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    await eventually(lambda: disk.flushes > 3, "it is tried again")
    assert hosted.partition.high_watermark == 0
    disk.error = None
    await eventually(lambda: hosted.partition.high_watermark == 1, "it is committed")
    assert not hosted.log.is_flush_due


async def test_what_a_producer_sends_again_is_acknowledged_when_it_is_fsynced(served, disk):
    """The fsync of what it sent first failed: that it stands in the log already makes it no safer."""
    disk.error = OSError(errno.EMFILE, "Too many open files")
    client = await served.client()
    sent = produce(data(7, 0, is_transactional=False))
    for _ in range(2):
        answer = (await client.ask(sent, 9)).responses[0].partition_responses[0]
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    disk.error = None
    answer = (await client.ask(sent, 9)).responses[0].partition_responses[0]
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
    assert served.replicas.get("t", 0).log.recovery_point == 1


async def test_a_leader_that_resigned_meanwhile_commits_nothing(served, disk):
    disk.stand_still()
    hosted = served.replicas.get("t", 0)
    served.replicas.append(TopicPartition("t", 0), batch_of(b"x"))
    await begun(disk)
    served.lead("t", leader=2, leader_epoch=1)
    disk.may_go_on.set()
    await served.replicas.logs.idle()
    assert hosted.partition.high_watermark == 0
