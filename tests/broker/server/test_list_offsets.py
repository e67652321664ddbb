"""ListOffsets and its neighbours: who may answer, under which leader epoch, and what is known of the record found."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from broker.protocol.messages.list_offsets import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from broker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.broker.server.test_bad_input import batch_of, produce


async def listed(client, timestamp: int, epoch: int = -1, version: int = 7):
    partition = ListOffsetsPartition(timestamp=timestamp, current_leader_epoch=epoch)
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=[partition])])
    return (await client.ask(request, version)).topics[0].partitions[0]


async def epoch_end(client, epoch: int = -1):
    partition = OffsetForLeaderPartition(partition=0, current_leader_epoch=epoch, leader_epoch=0)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic="t", partitions=[partition])])
    return (await client.ask(request, 4)).topics[0].partitions[0]


async def deleted(client):
    topic = DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=0)])
    return (await client.ask(DeleteRecordsRequest(topics=[topic]), 2)).topics[0].partitions[0]


@pytest.mark.parametrize("ask", [lambda client: listed(client, -1), epoch_end, deleted])
async def test_a_partition_led_elsewhere_is_asked_for_there(served, ask):
    client = await served.client()
    assert (await ask(client)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    served.tell_of("t", leader=2)
    assert (await ask(client)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize("ask", [lambda client, epoch: listed(client, -1, epoch), epoch_end])
async def test_trap_04_leader_epochs_of_requests_are_fenced(served, ask):
    served.lead("t", leader_epoch=5)
    client = await served.client()
    codes = [(await ask(client, epoch)).error_code for epoch in (4, 5, 6, -1)]
    assert codes == [
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NONE,
    ]


async def test_trap_48_time_finds_the_first_record_not_older_and_its_epoch(served):
    client = await served.client()
    served.lead("t", leader_epoch=3)
    await client.ask(produce(bytes(build_batch([Record(0, 1_000, None, b"old")]))), 9)
    served.lead("t", leader_epoch=8)
    await client.ask(produce(bytes(build_batch([Record(0, 2_000, None, b"new")]))), 9)
    results = {
        timestamp: await listed(client, timestamp)
        for timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, MAX_TIMESTAMP, 500, 1_500, 9_999)
    }
    assert {timestamp: (item.offset, item.leader_epoch) for timestamp, item in results.items()} == {
        EARLIEST_TIMESTAMP: (0, 3),
        LATEST_TIMESTAMP: (2, 8),
        MAX_TIMESTAMP: (1, 8),
        500: (0, 3),
        1_500: (1, 8),
        9_999: (-1, -1),
    }


async def test_newest_time_of_a_partition_emptied_by_delete_records_is_still_known(served):
    client = await served.client()
    served.lead("t")
    await client.ask(produce(bytes(build_batch([Record(0, 1_000, None, b"x")]))), 9)
    assert await served.deletions.carry_out([served.deletions.plan("t", 0, -1)]) == {}
    newest = await listed(client, MAX_TIMESTAMP)
    assert (newest.offset, newest.timestamp) == (0, 1_000)
    assert (await listed(client, 0)).offset == -1


@pytest.mark.parametrize(
    ("timestamp", "first"),
    [
        (MAX_TIMESTAMP, 7),
        (EARLIEST_LOCAL_TIMESTAMP, 8),
        (LATEST_TIERED_TIMESTAMP, 9),
        (EARLIEST_PENDING_UPLOAD_TIMESTAMP, 11),
    ],
)
async def test_a_number_below_zero_is_unknown_before_the_version_that_gave_it_a_meaning(served, timestamp, first):
    client = await served.client()
    served.lead("t")
    await client.ask(produce(bytes(build_batch([Record(0, 1_000, None, b"x")]))), 9)
    assert (await listed(client, timestamp, version=first - 1)).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert (await listed(client, timestamp, version=first)).error_code == ErrorCode.NONE
    assert (await listed(client, -7, version=11)).error_code == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("timestamp", [LATEST_TIERED_TIMESTAMP, EARLIEST_PENDING_UPLOAD_TIMESTAMP])
async def test_no_record_is_tiered_and_none_waits_to_be(served, timestamp):
    client = await served.client()
    served.lead("t")
    await client.ask(produce(bytes(build_batch([Record(0, 1_000, None, b"x")]))), 9)
    of_tiered = await listed(client, timestamp, version=11)
    assert (of_tiered.error_code, of_tiered.offset, of_tiered.timestamp, of_tiered.leader_epoch) == (0, -1, -1, -1)


async def written(client):
    return (await client.ask(produce(batch_of(b"x")), 9)).responses[0].partition_responses[0]


async def test_a_producer_is_told_the_brokers_time_where_that_counts(served):
    served.lead("t")
    client = await served.client()
    assert (await written(client)).log_append_time_ms == -1
    served.store.configs["t"] = {"message.timestamp.type": "LogAppendTime"}
    await served.topic_configs.apply("t")
    answer = await written(client)
    newest = await listed(client, MAX_TIMESTAMP)
    assert (newest.offset, newest.timestamp) == (answer.base_offset, answer.log_append_time_ms)


async def test_a_producer_is_told_where_the_log_starts(served):
    served.lead("t")
    client = await served.client()
    for _ in range(3):
        await written(client)
    assert await served.deletions.carry_out([served.deletions.plan("t", 0, 2)]) == {}
    assert (await written(client)).log_start_offset == 2
