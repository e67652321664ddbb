"""TxnOffsetCommit over a real socket: only into a transaction that has the group's offsets partition in it."""

import asyncio
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from broker.protocol.messages.sync_group import SyncGroupRequest
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.broker.server.conftest import TOPIC_ID
from tests.eventually import eventually

OFFSETS_PARTITIONS = 3
COORDINATOR = TopicPartition(OFFSETS_TOPIC, partition_for("g", OFFSETS_PARTITIONS))


def commit(offset: int, topic: str = "t", partition: int = 0, epoch: int = 0, group: str = "g", producer_id: int = 7):
    committed = TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
    return TxnOffsetCommitRequest(
        transactional_id="copier",
        group_id=group,
        producer_id=producer_id,
        producer_epoch=epoch,
        member_id="",
        topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[committed])],
    )


def codes(response) -> list[ErrorCode]:
    return [ErrorCode(partition.error_code) for topic in response.topics for partition in topic.partitions]


async def committed(client, *, require_stable: bool = False) -> tuple[int, ErrorCode]:
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[0])
    groups = [OffsetFetchRequestGroup(group_id="g", topics=[topic])]
    response = await client.ask(OffsetFetchRequest(groups=groups, require_stable=require_stable), 9)
    (first,) = response.groups[0].topics[0].partitions
    return first.committed_offset, ErrorCode(first.error_code)


async def end_transaction(client, *, is_commit: bool) -> None:
    topic = WritableTxnMarkerTopic(name=OFFSETS_TOPIC, partition_indexes=[COORDINATOR.partition])
    marker = WritableTxnMarker(
        producer_id=7, producer_epoch=0, transaction_result=is_commit, topics=[topic], coordinator_epoch=0
    )
    response = await client.ask(WriteTxnMarkersRequest(markers=[marker]), 1)
    assert response.markers[0].topics[0].partitions[0].error_code == ErrorCode.NONE


@pytest.fixture
async def client(served):
    for topic, partitions in (("t", 2), (OFFSETS_TOPIC, OFFSETS_PARTITIONS)):
        served.lead(topic, partitions)
        served.tell_of(topic, partitions)
    return await served.member()


@pytest.mark.parametrize(("is_commit", "expected"), [(True, 5), (False, -1)])
async def test_trap_30_marker_written_to_the_offsets_partition_decides(client, is_commit, expected):
    assert codes(await client.ask(commit(5), 4)) == [ErrorCode.NONE]
    assert await committed(client) == (-1, ErrorCode.NONE)
    assert await committed(client, require_stable=True) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    await end_transaction(client, is_commit=is_commit)
    assert await committed(client, require_stable=True) == (expected, ErrorCode.NONE)


async def test_trap_37_first_commit_of_a_transaction_is_verified_and_later_ones_are_not(served, client):
    for offset in (5, 6):
        assert codes(await client.ask(commit(offset), 4)) == [ErrorCode.NONE]
    assert served.verified == [("copier", 7, 0, (COORDINATOR,))]


@pytest.mark.parametrize(
    ("verdict", "version", "expected"),
    [
        (ErrorCode.TRANSACTION_ABORTABLE, 4, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.TRANSACTION_ABORTABLE, 3, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.PRODUCER_FENCED, 4, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, 4, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 4, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NETWORK_EXCEPTION, 0, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
async def test_trap_37_commit_outside_a_transaction_writes_nothing(served, client, verdict, version, expected):
    served.verdicts[COORDINATOR] = verdict
    assert codes(await client.ask(commit(5), version)) == [expected]
    assert served.replicas.get(*COORDINATOR).log.log_end_offset == 0


async def test_trap_37_commit_whose_transaction_ends_while_it_is_verified_is_refused(served, client):
    verdict = served.verdicts[COORDINATOR] = asyncio.get_running_loop().create_future()
    await client.send_request(commit(5), 4)
    await eventually(lambda: served.verified, "the coordinator is asked")
    await end_transaction(await served.member(), is_commit=True)
    verdict.set_result(ErrorCode.NONE)
    assert codes(await client.answer(TxnOffsetCommitRequest.api, 4)) == [ErrorCode.INVALID_TXN_STATE]


async def test_producer_that_was_replaced_commits_nothing(client):
    assert codes(await client.ask(commit(5, epoch=1), 4)) == [ErrorCode.NONE]
    assert codes(await client.ask(commit(6, epoch=0), 4)) == [ErrorCode.INVALID_PRODUCER_EPOCH]


async def test_commit_without_a_producer_is_refused(client):
    assert codes(await client.ask(commit(5, producer_id=-1), 4)) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]
    assert codes(await client.ask(commit(5, epoch=-1), 4)) == [ErrorCode.INVALID_PRODUCER_EPOCH]


async def test_partitions_there_are_none_of_are_refused_one_by_one(client):
    request = commit(5)
    request.topics += [*commit(6, partition=9).topics, *commit(6, topic="missing").topics]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes(await client.ask(request, 4)) == [ErrorCode.NONE, unknown, unknown]


async def test_topics_are_named_by_their_ids_from_version_6_on(client):
    request, unknown = commit(5), commit(6)
    request.topics[0].topic_id, unknown.topics[0].topic_id = TOPIC_ID, UUID(int=404)
    request.topics += [*unknown.topics, *commit(7, partition=9).topics]
    request.topics[2].topic_id = TOPIC_ID
    response = await client.ask(request, 6)
    answered = {
        (topic.topic_id, partition.partition_index): ErrorCode(partition.error_code)
        for topic in response.topics
        for partition in topic.partitions
    }
    assert answered == {
        (TOPIC_ID, 0): ErrorCode.NONE,
        (TOPIC_ID, 9): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        (UUID(int=404), 0): ErrorCode.UNKNOWN_TOPIC_ID,
    }
    await end_transaction(client, is_commit=True)
    assert await committed(client, require_stable=True) == (5, ErrorCode.NONE)


async def test_of_unknown_ids_alone_no_coordinator_hears(served, client):
    request = commit(5)
    request.topics[0].topic_id = UUID(int=404)
    assert codes(await client.ask(request, 6)) == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert served.verified == []


@pytest.mark.parametrize(("version", "expected"), [(5, "ILLEGAL_GENERATION"), (6, "GROUP_ID_NOT_FOUND")])
async def test_a_member_of_a_group_that_is_not_there_is_told_so_since_version_6(client, version, expected):
    request = commit(5)
    request.generation_id, request.member_id = 3, "m"
    request.topics[0].topic_id = TOPIC_ID
    assert codes(await client.ask(request, version)) == [ErrorCode[expected]]


async def test_commit_for_a_group_coordinated_elsewhere_is_told_so(served, client):
    served.lead(OFFSETS_TOPIC, OFFSETS_PARTITIONS, leader=2, leader_epoch=1)
    assert codes(await client.ask(commit(5), 4)) == [ErrorCode.NOT_COORDINATOR]


@pytest.mark.parametrize(
    ("version", "expected"), [(1, ErrorCode.COORDINATOR_NOT_AVAILABLE), (2, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)]
)
async def test_oldest_producers_do_not_hear_of_a_load(served, client, version, expected):
    await client.ask(commit(5), 4)
    served.lead(OFFSETS_TOPIC, OFFSETS_PARTITIONS, leader=2, leader_epoch=1)
    served.lead(OFFSETS_TOPIC, OFFSETS_PARTITIONS, leader_epoch=2)
    shard = served.groups._shards[COORDINATOR.partition]
    await eventually(lambda: shard.is_loaded, "loaded")
    shard.is_loaded = False
    assert codes(await client.ask(commit(5), version)) == [expected]


async def test_offsets_of_topics_there_are_none_of_are_not_deleted(client):
    await client.ask(commit(5), 4)
    await end_transaction(client, is_commit=True)
    partitions = [OffsetDeleteRequestPartition(partition_index=0)]
    topics = [OffsetDeleteRequestTopic(name=name, partitions=partitions) for name in ("t", "missing")]
    response = await client.ask(OffsetDeleteRequest(group_id="g", topics=topics), 0)
    assert codes(response) == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert await committed(client) == (-1, ErrorCode.NONE)


def deletion(group: str, *partitions: tuple[str, int]) -> OffsetDeleteRequest:
    topics = [
        OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=index)])
        for name, index in partitions
    ]
    return OffsetDeleteRequest(group_id=group, topics=topics)


async def test_offsets_of_partitions_there_are_none_of_are_refused_one_by_one(client):
    await client.ask(commit(5), 4)
    await end_transaction(client, is_commit=True)
    response = await client.ask(deletion("g", ("t", 0), ("t", 9)), 0)
    (topic,) = response.topics
    errors = {partition.partition_index: partition.error_code for partition in topic.partitions}
    assert errors == {0: ErrorCode.NONE, 9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


async def test_a_group_is_looked_for_even_where_no_offset_is_left_to_delete(client):
    for partitions in ([], [("t", 9)], [("missing", 0)], [("t", 0)]):
        assert (await client.ask(deletion("none", *partitions), 0)).error_code == ErrorCode.GROUP_ID_NOT_FOUND


async def test_a_member_names_the_protocol_it_synchronises_since_version_5(client):
    request = SyncGroupRequest(group_id="g", generation_id=1, member_id="m", protocol_type="consumer")
    assert (await client.ask(request, 5)).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert (await client.ask(request, 4)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def wide_commit(partitions: int) -> TxnOffsetCommitRequest:
    request = commit(5)
    request.topics[0].partitions = [
        TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=5) for index in range(partitions)
    ]
    return request


async def test_offsets_of_many_partitions_are_committed_with_the_transaction(served, client):
    count = 2 * THINGS_IN_A_TURN + 1
    served.tell_of("t", count)
    assert codes(await client.ask(wide_commit(count), 4)) == [ErrorCode.NONE] * count
    assert served.verified == [("copier", 7, 0, (COORDINATOR,))]
    await end_transaction(client, is_commit=True)
    assert await committed(client, require_stable=True) == (5, ErrorCode.NONE)


async def test_client_that_leaves_in_the_middle_of_a_wide_commit_leaves_nobody_in_line(served, client):
    served.tell_of("t", 2 * THINGS_IN_A_TURN + 1)
    served.verdicts[COORDINATOR] = asyncio.get_running_loop().create_future()
    await client.send_request(wide_commit(2 * THINGS_IN_A_TURN + 1), 4)
    await eventually(lambda: served.verified, "the coordinator is asked")
    client.writer.close()
    await eventually(lambda: served.verdicts[COORDINATOR].cancelled(), "the question is taken back")
    served.verdicts.clear()
    assert codes(await (await served.member()).ask(commit(6), 4)) == [ErrorCode.NONE]
