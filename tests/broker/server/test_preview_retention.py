"""PreviewRetention over a socket: what would go now, or under another configuration."""

import asyncio
import threading

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import PREVIEWS_WAITING_MAX
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.preview_retention import (
    DeletionReason,
    PreviewRetentionConfig,
    PreviewRetentionRequest,
    PreviewRetentionTopic,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime import retention_previews
from tests.broker.server.test_bad_input import produce

LONG_AGO_MS = 1_000_000


def asking(partitions=None, topic="t", timeout_ms=30_000, **configs: str | None) -> PreviewRetentionRequest:
    changes = [PreviewRetentionConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()]
    preview_retention_topic = PreviewRetentionTopic(name=topic, partitions=partitions, configs=changes)
    return PreviewRetentionRequest(topics=[preview_retention_topic], timeout_ms=timeout_ms)


@pytest.fixture
async def client(served):
    """Of a broker that leads the topic "t", which keeps its records for ever."""
    served.store.configs["t"] = {"retention.ms": "-1", "segment.bytes": "500"}
    served.lead("t", 2)
    served.tell_of("t", 2)
    await served.topic_configs.apply("t")
    client = await served.member()
    for number in range(20):
        batch = build_batch([Record(0, LONG_AGO_MS + number, b"k%d" % (number % 2), b"." * 100)])
        await client.ask(produce(bytes(batch)), 9)
    return client


async def only_topic(client, request):
    return (await client.ask(request, 0)).topics[0]


async def test_nothing_goes_that_is_kept_for_ever(client):
    topic = await only_topic(client, asking())
    assert (topic.error_code, topic.cleanup_policy, topic.retention_ms) == (ErrorCode.NONE, "delete", -1)
    first, second = topic.partitions
    assert (first.partition_index, second.partition_index) == (0, 1)
    assert (first.log_start_offset, first.new_log_start_offset, first.log_end_offset) == (0, 0, 20)
    assert (first.deleted_segments, first.deleted_bytes, first.segments) == (0, 0, [])
    assert first.size_bytes > 2_000
    assert second.size_bytes == 0


async def test_a_changed_configuration_tells_each_segment_that_would_go(client, served):
    topic = await only_topic(client, asking([0], retention_ms="1000"))
    (partition,) = topic.partitions
    assert partition.new_log_start_offset == partition.deleted_records == 20
    assert partition.deleted_segments == len(partition.segments) == partition.segment_count
    assert partition.deleted_bytes == partition.size_bytes
    first = partition.segments[0]
    assert (first.base_offset, first.reason) == (0, DeletionReason.TIME)
    assert first.max_timestamp == LONG_AGO_MS + first.last_offset
    assert len(served.replicas.get("t", 0).log.segments) == partition.segment_count, "nothing was touched"


async def test_the_reason_names_what_is_exceeded(client):
    (partition,) = (await only_topic(client, asking([0], retention_bytes="600"))).partitions
    assert {segment.reason for segment in partition.segments} == {DeletionReason.SIZE}
    assert 0 < partition.size_bytes - partition.deleted_bytes <= 1_100


async def test_a_value_taken_away_is_previewed_with_the_default(client):
    assert (await only_topic(client, asking([0], retention_ms=None))).retention_ms == 604_800_000


async def test_compaction_tells_what_stays_and_what_goes(client):
    request = asking([0], cleanup_policy="compact", min_cleanable_dirty_ratio="0.1")
    (partition,) = (await only_topic(client, request)).partitions
    assert partition.deleted_segments == 0
    compaction = partition.compaction
    assert (compaction.is_due, compaction.is_complete) == (True, True)
    assert compaction.bytes_after < compaction.bytes_before
    assert (compaction.records_kept, compaction.records_superseded) == (2, compaction.end_offset - 2)
    assert {segment.reason for segment in partition.segments} == {DeletionReason.COMPACTION}


async def test_compaction_is_left_out_when_not_asked_for(client):
    request = asking([0], cleanup_policy="compact")
    request.include_compaction = False
    (partition,) = (await only_topic(client, request)).partitions
    assert (partition.error_code, partition.compaction) == (ErrorCode.NONE, None)


@pytest.mark.parametrize(("name", "value"), [("retention_ms", "soon"), ("colour", "red"), ("segment_bytes", "0")])
async def test_a_configuration_that_cannot_be_is_refused_as_when_set(client, name, value):
    topic = await only_topic(client, asking(**{name: value}))
    assert topic.error_code == ErrorCode.INVALID_CONFIG
    assert name.replace("_", ".") in topic.error_message


async def test_an_unknown_topic_is_refused(client):
    topic = await only_topic(client, asking(topic="missing"))
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_only_the_leader_answers_for_a_partition(client, served):
    served.lead("t", leader=2, leader_epoch=1)
    (partition,) = (await only_topic(client, asking([0]))).partitions
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_a_partition_that_cannot_be_looked_at_in_time_says_so(client):
    (partition,) = (await only_topic(client, asking([0], timeout_ms=0))).partitions
    assert partition.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert "allow more" in partition.error_message


async def test_damage_on_disk_is_an_answer(client, served):
    segment = served.replicas.get("t", 0).log.segments[0]
    content = bytearray(segment.files.log.read_bytes())
    content[70] ^= 0xFF
    segment.files.log.write_bytes(content)
    (partition,) = (await only_topic(client, asking([0], cleanup_policy="compact"))).partitions
    assert partition.error_code == ErrorCode.CORRUPT_MESSAGE


async def test_partitions_are_looked_at_in_one_visit_of_the_thread_and_one_that_fails_costs_no_other_its_preview(
    client, served, monkeypatch
):
    preview_log, visits = retention_previews.preview_log, []
    loop = asyncio.get_running_loop()
    run_in_executor = loop.run_in_executor
    monkeypatch.setattr(loop, "run_in_executor", lambda *work: visits.append(work) or run_in_executor(*work))

    def failing(target, *arguments, **options):
        if target.partition.partition == 0:
            raise OSError(5, "Input/output error")
        return preview_log(target, *arguments, **options)

    monkeypatch.setattr(retention_previews, "preview_log", failing)
    request = asking([0, 7, 1])
    request.include_compaction = False
    broken, unknown, well = (await only_topic(client, request)).partitions
    assert (broken.partition_index, broken.error_code) == (0, ErrorCode.KAFKA_STORAGE_ERROR)
    assert (unknown.partition_index, unknown.error_code) == (7, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert (well.partition_index, well.error_code, well.log_end_offset) == (1, ErrorCode.NONE, 0)
    assert len(visits) == 1


async def test_a_flood_of_previews_is_refused_and_others_are_served(client, served, monkeypatch):
    may_go_on = threading.Event()

    def slow(*arguments, **options):
        assert may_go_on.wait(30)
        return preview_log(*arguments, **options)

    preview_log = retention_previews.preview_log
    monkeypatch.setattr(retention_previews, "preview_log", slow)
    askers = [await served.member() for _ in range(PREVIEWS_WAITING_MAX + 1)]
    for asker in askers:
        await asker.send_request(asking([0]), 0)
    refused = (await askers[-1].answer(ApiKey.PREVIEW_RETENTION, 0)).topics[0].partitions[0]
    assert refused.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert "try later" in refused.error_message
    may_go_on.set()
    for asker in askers[:-1]:
        answer = (await asker.answer(ApiKey.PREVIEW_RETENTION, 0)).topics[0].partitions[0]
        assert answer.error_code == ErrorCode.NONE


async def test_a_preview_nobody_waits_for_any_more_is_stopped(client, served, monkeypatch):
    began, was_told_to_stop = threading.Event(), threading.Event()

    def endless(_target, _high_watermark, settings, *, with_compaction):
        began.set()
        while not settings.should_stop():
            settings.sleep(0.001)
        was_told_to_stop.set()
        settings.refuse_if_stopping()

    monkeypatch.setattr(retention_previews, "preview_log", endless)
    asker = await served.member()
    await asker.send_request(asking([0]), 0)
    await wait_for(began)
    asker.writer.close()
    await wait_for(was_told_to_stop)


async def wait_for(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 20)
