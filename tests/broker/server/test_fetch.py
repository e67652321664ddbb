"""Fetch by topic id, in sessions and with the leader's address, in every version that has it, over a real socket."""

import asyncio
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, ReplicaState
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from broker.records.record import decode_records
from tests.broker.runtime.controllers_word import tell_all
from tests.broker.server.conftest import TOPIC_ID
from tests.broker.server.test_bad_input import batch_of, produce
from tests.eventually import eventually

BY_NAME = range(4, 13)
BY_ID = range(13, 18)
IN_SESSIONS = range(7, 18)
OTHER = 2


def topic(*partitions: FetchPartition, topic_id: UUID = TOPIC_ID) -> FetchTopic:
    return FetchTopic(topic="t", topic_id=topic_id, partitions=list(partitions))


def of(partition: int = 0, offset: int = 0, epoch: int = -1, max_bytes: int = 1_000_000) -> FetchPartition:
    return FetchPartition(
        partition=partition, fetch_offset=offset, current_leader_epoch=epoch, partition_max_bytes=max_bytes
    )


def fetch(*topics: FetchTopic, session: tuple[int, int] = (0, -1), **more) -> FetchRequest:
    return FetchRequest(session_id=session[0], session_epoch=session[1], topics=list(topics), **more)


def partitions(response) -> list:
    return [partition for topic in response.responses for partition in topic.partitions]


def lead(served, count: int = 1) -> None:
    served.lead("t", count)
    served.tell_of("t", count)


def tell_of_other_leader(served, leader_epoch: int = 3) -> None:
    """As the controller: t-0 is led by another broker, at host-2:9093, in a rack."""
    endpoint = UpdateMetadataEndpoint(host="host-2", port=9093, listener="PLAINTEXT")
    state = UpdateMetadataPartitionState(partition_index=0, leader=OTHER, leader_epoch=leader_epoch)
    tell_all(
        served.metadata,
        UpdateMetadataRequest(
            controller_epoch=1,
            live_brokers=[UpdateMetadataBroker(id=OTHER, endpoints=[endpoint], rack="r")],
            topic_states=[UpdateMetadataTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=[state])],
        ),
    )


async def filled(served, count: int = 1):
    """A client that has written one record of 60 bytes to each partition of t."""
    lead(served, count)
    client = await served.client()
    for index in range(count):
        await client.ask(produce(batch_of(b"x" * 60), index=index), 9)
    return client


@pytest.mark.parametrize("version", [*BY_NAME, *BY_ID])
async def test_records_are_read_by_what_the_version_calls_a_topic(served, version):
    response = await (await filled(served)).ask(fetch(topic(of())), version)
    answered = response.responses[0]
    assert (answered.topic, answered.topic_id) == (("t", UUID(int=0)) if version in BY_NAME else ("", TOPIC_ID))
    assert [record.value for record in decode_records(answered.partitions[0].records)] == [b"x" * 60]
    assert answered.partitions[0].preferred_read_replica == -1


@pytest.mark.parametrize("version", BY_ID)
async def test_an_id_nobody_knows_is_refused_beside_one_that_is_known(served, version):
    client = await filled(served)
    response = await client.ask(fetch(topic(of(), of(1), topic_id=UUID(int=5)), topic(of())), version)
    assert [(item.topic_id, [one.error_code for one in item.partitions]) for item in response.responses] == [
        (UUID(int=5), [ErrorCode.UNKNOWN_TOPIC_ID] * 2),
        (TOPIC_ID, [ErrorCode.NONE]),
    ]


@pytest.mark.parametrize("name", ["", "missing"])
async def test_a_name_nobody_knows_is_refused_as_a_name(served, name):
    request = fetch(FetchTopic(topic=name, partitions=[of()]))
    (refused,) = partitions(await (await served.client()).ask(request, 12))
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", BY_ID)
async def test_trap_12_the_log_of_an_earlier_topic_of_the_name_is_not_read(served, version):
    client = await filled(served)
    new_id = UUID(int=99)
    served.tell_of("t", topic_id=new_id)
    for topic_id, code in [(new_id, ErrorCode.INCONSISTENT_TOPIC_ID), (TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_ID)]:
        response = await client.ask(fetch(topic(of(), topic_id=topic_id)), version)
        assert [partition.error_code for partition in partitions(response)] == [code]


@pytest.mark.parametrize("version", [12, *BY_ID])
@pytest.mark.parametrize("is_hosted", [True, False])
async def test_a_partition_led_elsewhere_is_refused_with_its_leader(served, version, is_hosted):
    tell_of_other_leader(served)
    if is_hosted:
        served.lead("t", leader=OTHER, leader_epoch=3)
    response = await (await served.client()).ask(fetch(topic(of()), max_wait_ms=60_000), version)
    (refused,) = partitions(response)
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (OTHER, 3)
    endpoints = [(node.node_id, node.host, node.port, node.rack) for node in response.node_endpoints]
    assert endpoints == ([(OTHER, "host-2", 9093, "r")] if version >= 16 else [])


async def test_an_outdated_epoch_is_refused_with_the_current_one(served):
    served.lead("t", leader_epoch=5)
    served.tell_of("t")
    response = await (await served.client()).ask(fetch(topic(of(epoch=4))), 17)
    (refused,) = partitions(response)
    assert refused.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (1, 5)
    assert [node.node_id for node in response.node_endpoints] == [1]


@pytest.mark.parametrize("version", [4, 6, 11])
async def test_who_could_not_be_told_where_logs_part_may_not_follow(served, version):
    """However far beyond the end of the log it is: found by the fuzzer, whose question could not be answered."""
    served.lead_with_follower("t", OTHER)
    served.tell_of("t")
    client = await served.member()
    answer = await client.ask(fetch(topic(of(offset=1_000)), replica_id=OTHER), version)
    assert [partition.error_code for partition in partitions(answer)] == [ErrorCode.UNSUPPORTED_VERSION]


@pytest.mark.parametrize("version", [12, 17])
async def test_who_follows_nothing_is_refused(served, version):
    await filled(served)
    client = await served.member()
    request = fetch(topic(of()), replica_id=OTHER, replica_state=ReplicaState(replica_id=OTHER))
    if version < 15:
        request.replica_state = ReplicaState()
    else:
        request.replica_id = -1
    assert [partition.error_code for partition in partitions(await client.ask(request, version))] == [
        ErrorCode.NOT_LEADER_OR_FOLLOWER
    ]


@pytest.mark.parametrize("version", [4, 11, 17])
@pytest.mark.parametrize("isolation_level", [0, 1])
async def test_who_reads_committed_is_told_of_aborted_transactions_and_nobody_else(served, version, isolation_level):
    client = await filled(served)
    (read,) = partitions(await client.ask(fetch(topic(of()), isolation_level=isolation_level), version))
    assert read.aborted_transactions == ([] if isolation_level else None)
    assert read.last_stable_offset == read.high_watermark == 1


@pytest.mark.parametrize("limits", [{"max_bytes": 1}, {"max_bytes": 130}])
async def test_one_whole_batch_is_sent_whatever_the_limit_and_no_second_beyond_it(served, limits):
    client = await filled(served, 3)
    topics = [topic(of(0, offset=1), of(1, max_bytes=1), of(2))]
    read = partitions(await client.ask(fetch(*topics, **limits), 17))
    assert [bool(item.records) for item in read] == [False, True, False]
    assert decode_records(read[1].records)[0].value == b"x" * 60


@pytest.mark.parametrize("version", IN_SESSIONS)
async def test_a_session_is_opened_continued_and_closed(served, version):
    client = await filled(served, 2)
    opened = await client.ask(fetch(topic(of(0), of(1)), session=(0, 0)), version)
    assert [len(partition.records) > 0 for partition in partitions(opened)] == [True, True]
    session_id = opened.session_id
    quiet = await client.ask(fetch(topic(of(0, 1), of(1, 1)), session=(session_id, 1)), version)
    assert (quiet.error_code, quiet.session_id, quiet.responses) == (ErrorCode.NONE, session_id, [])
    await client.ask(produce(batch_of(b"new"), index=1), 9)
    news = await client.ask(fetch(session=(session_id, 2)), version)
    assert [partition.partition_index for partition in partitions(news)] == [1]
    assert decode_records(partitions(news)[0].records)[0].value == b"new"
    closed = await client.ask(fetch(topic(of(1, 2)), session=(session_id, -1)), version)
    assert (closed.session_id, len(partitions(closed))) == (0, 1)
    gone = await client.ask(fetch(session=(session_id, 3)), version)
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("version", IN_SESSIONS)
async def test_a_session_forgets_what_it_is_told_to(served, version):
    client = await filled(served, 2)
    session_id = (await client.ask(fetch(topic(of(0), of(1)), session=(0, 0)), version)).session_id
    forgotten = [ForgottenTopic(topic="t", topic_id=TOPIC_ID, partitions=[0])]
    left = await client.ask(fetch(session=(session_id, 1), forgotten_topics_data=forgotten), version)
    assert [partition.partition_index for partition in partitions(left)] == [1]


async def test_a_session_does_not_mix_names_and_ids(served):
    client = await filled(served)
    for opened, continued in [(12, 13), (13, 12)]:
        session_id = (await client.ask(fetch(topic(of()), session=(0, 0)), opened)).session_id
        answer = await client.ask(fetch(session=(session_id, 1)), continued)
        assert (answer.error_code, answer.responses) == (ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, [])


async def test_a_session_with_a_wrong_epoch_is_refused_and_goes_on_with_the_right_one(served):
    client = await filled(served)
    session_id = (await client.ask(fetch(topic(of()), session=(0, 0)), 17)).session_id
    assert (await client.ask(fetch(session=(session_id, 2)), 17)).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert (await client.ask(fetch(session=(session_id, 1)), 17)).session_id == session_id


async def test_a_session_waits_and_is_woken_by_a_partition_it_did_not_name_again(served):
    reader, writer = await filled(served, 2), await served.client()
    session_id = (await reader.ask(fetch(topic(of(0, 1), of(1, 1)), session=(0, 0)), 17)).session_id
    await reader.send_request(fetch(session=(session_id, 1), max_wait_ms=60_000, min_bytes=1), 17)
    while not len(served.delayed_fetches):
        await asyncio.sleep(0)
    await writer.ask(produce(batch_of(b"late"), index=1), 9)
    (read,) = partitions(await reader.answer(FetchRequest.api, 17))
    assert (read.partition_index, decode_records(read.records)[0].value) == (1, b"late")


async def test_a_session_that_waited_in_vain_is_answered_with_nothing(served):
    client = await filled(served)
    session_id = (await client.ask(fetch(topic(of(0, 1)), session=(0, 0)), 17)).session_id
    answer = await client.ask(fetch(session=(session_id, 1), max_wait_ms=20, min_bytes=1), 17)
    assert (answer.error_code, answer.session_id, answer.responses) == (ErrorCode.NONE, session_id, [])


async def test_a_session_is_told_when_its_topic_goes_and_when_it_is_back(served):
    client = await filled(served)
    session_id = (await client.ask(fetch(topic(of(0, 1)), session=(0, 0)), 17)).session_id
    served.replicas.stop_replica(TopicPartition("t", 0), delete=False)
    gone = await client.ask(fetch(session=(session_id, 1)), 17)
    assert [partition.error_code for partition in partitions(gone)] == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    served.lead("t")
    back = await client.ask(fetch(session=(session_id, 2)), 17)
    assert [(partition.error_code, partition.high_watermark) for partition in partitions(back)] == [(ErrorCode.NONE, 1)]


@pytest.mark.parametrize("is_hosted", [True, False])
@pytest.mark.parametrize("version", [9, 10, 11])
async def test_a_producer_is_told_who_leads_instead(served, version, is_hosted):
    tell_of_other_leader(served)
    if is_hosted:
        served.lead("t", leader=OTHER, leader_epoch=3)
    response = await (await served.client()).ask(produce(batch_of(b"x")), version)
    refused = response.responses[0].partition_responses[0]
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    if version < 10:
        assert (refused.current_leader, response.node_endpoints) == (None, [])
    else:
        assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (OTHER, 3)
        assert [(node.node_id, node.host, node.port) for node in response.node_endpoints] == [(OTHER, "host-2", 9093)]


async def test_nobody_is_named_where_nobody_leads(served):
    served.lead("t", leader=-1, leader_epoch=3)
    client = await served.client()
    (refused,) = partitions(await client.ask(fetch(FetchTopic(topic="t", partitions=[of()])), 12))
    assert (refused.error_code, refused.current_leader) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, None)


async def test_records_too_few_to_send_are_not_held_and_come_when_time_is_up(served):
    lead(served)
    client = await served.client()
    await client.ask(produce(batch_of(b"few")), 9)
    (answer,) = partitions(await client.ask(fetch(topic(of()), max_wait_ms=50, min_bytes=1_000), 12))
    assert [record.value for record in decode_records(answer.records)] == [b"few"]


async def test_an_answer_of_many_small_pieces_is_sent_from_their_files_beyond_a_limit(served, monkeypatch):
    monkeypatch.setattr("broker.runtime.requests.fetch_work.ANSWER_BYTES_IN_MEMORY_MAX", 100)
    lead(served, 4)
    client = await served.client()
    for index in range(4):
        await client.ask(produce(batch_of(b"%d" % index * 5_000), index=index), 9)
    answers = partitions(await client.ask(fetch(topic(*map(of, range(4))), max_wait_ms=0, min_bytes=1), 12))
    assert [decode_records(answer.records)[0].value for answer in answers] == [
        b"%d" % index * 5_000 for index in range(4)
    ]


async def test_a_partition_named_again_and_again_waits_once_and_the_last_that_is_said_of_it_counts(served):
    reader, writer = await filled(served), await served.client()
    await reader.send_request(fetch(topic(*[of()] * 1_000, of(offset=1)), max_wait_ms=60_000, min_bytes=1), 17)
    await eventually(lambda: len(served.delayed_fetches) == 1, "the fetch waits")
    assert served.delayed_fetches.keys_waited_for == 1
    assert served.delayed_fetches._room.largest(), "it counts for its client"
    await writer.ask(produce(batch_of(b"late")), 9)
    (read,) = partitions(await reader.answer(FetchRequest.api, 17))
    assert decode_records(read.records)[0].value == b"late"


async def test_nobody_waits_longer_than_is_bearable(served, monkeypatch):
    monkeypatch.setattr("broker.handlers.fetch.FETCH_WAIT_MS_MAX", 20)
    client = await filled(served)
    (read,) = partitions(await client.ask(fetch(topic(of(offset=1)), max_wait_ms=2**31 - 1, min_bytes=1), 17))
    assert (read.error_code, bytes(read.records)) == (ErrorCode.NONE, b"")


@pytest.mark.parametrize(
    ("offset", "last_epoch", "code", "parts_at"),
    [
        (10, 6, ErrorCode.NONE, (6, 0)),
        (10, 7, ErrorCode.NONE, (7, 5)),
        (3, 6, ErrorCode.NONE, (6, 0)),
        (5, 7, ErrorCode.NONE, None),
        (3, 8, ErrorCode.OFFSET_OUT_OF_RANGE, None),
        (10, 8, ErrorCode.OFFSET_OUT_OF_RANGE, None),
        (10, -1, ErrorCode.OFFSET_OUT_OF_RANGE, None),
    ],
    ids=[
        "beyond the end",
        "of this epoch beyond the end",
        "below the end",
        "at the end",
        "an epoch nobody knows",
        "that beyond the end",
        "no epoch",
    ],
)
async def test_reader_hears_first_where_the_logs_part(served, offset, last_epoch, code, parts_at):
    """A leader elected uncleanly wrote five records under epoch 7; starting over is for who cannot be told that."""
    served.lead("t", leader_epoch=7)
    client = await served.client()
    for _ in range(5):
        await client.ask(produce(batch_of(b"v")), 9)
    partition = of(offset=offset, epoch=7)
    partition.last_fetched_epoch = last_epoch
    (data,) = partitions(await client.ask(fetch(topic(partition)), 12))
    diverging_epoch = data.diverging_epoch
    assert (data.error_code, diverging_epoch and (diverging_epoch.epoch, diverging_epoch.end_offset)) == (
        code,
        parts_at,
    )
    assert len(data.records or b"") == 0


@pytest.mark.parametrize(("offset", "last_epoch", "watermarks"), [(10, 6, 5), (3, 6, 5), (10, -1, -1)])
async def test_where_logs_part_the_watermarks_are_told_and_no_aborted_transactions(
    served, offset, last_epoch, watermarks
):
    served.lead("t", leader_epoch=7)
    client = await served.client()
    for _ in range(5):
        await client.ask(produce(batch_of(b"v")), 9)
    partition = of(offset=offset, epoch=7)
    partition.last_fetched_epoch = last_epoch
    (data,) = partitions(await client.ask(fetch(topic(partition)), 12))
    assert (data.high_watermark, data.last_stable_offset) == (watermarks, watermarks)
    assert data.aborted_transactions is None


async def test_reader_before_the_start_of_the_log_is_out_of_range_whatever_it_has_read(served):
    served.lead("t", leader_epoch=7)
    client = await served.client()
    for _ in range(5):
        await client.ask(produce(batch_of(b"v")), 9)
    assert await served.deletions.carry_out([served.deletions.plan("t", 0, 4)]) == {}
    partition = of(offset=3, epoch=7)
    partition.last_fetched_epoch = 6
    (data,) = partitions(await client.ask(fetch(topic(partition)), 12))
    assert (data.error_code, data.diverging_epoch) == (ErrorCode.OFFSET_OUT_OF_RANGE, None)


def reads_of(served, monkeypatch) -> list[int]:
    """The partitions that were read, in order."""
    read, indexes = served.replicas.read, []
    monkeypatch.setattr(
        served.replicas,
        "read",
        lambda where, *more, **named: (indexes.append(where.partition), read(where, *more, **named))[1],
    )
    return indexes


async def test_a_fetch_that_is_woken_reads_what_moved_and_nothing_else(served, monkeypatch):
    lead(served, 5)
    indexes = reads_of(served, monkeypatch)
    waiting, producer = await served.client(), await served.client()
    await waiting.send_request(fetch(topic(*map(of, range(5))), min_bytes=1, max_wait_ms=60_000), 12)
    await eventually(lambda: len(served.delayed_fetches), "the fetch waits")
    assert indexes == [0, 1, 2, 3, 4]
    await producer.ask(produce(batch_of(b"x"), index=3), 9)
    answer = await waiting.answer(fetch().api, 12)
    assert indexes == [0, 1, 2, 3, 4, 3]
    assert [bool(partition.records) for partition in partitions(answer)] == [False, False, False, True, False]
    assert [partition.partition_index for partition in partitions(answer)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("has_records", [True, False])
async def test_a_fetch_of_very_many_partitions_is_read_in_turns_and_misses_nothing(served, monkeypatch, has_records):
    """What moves while it is being read is no news to it later unless it waits from before."""
    monkeypatch.setattr("broker.runtime.requests.fetch_work.PARTITIONS_AT_ONCE_MAX", 3)
    monkeypatch.setattr("broker.runtime.in_turns.THINGS_IN_A_TURN", 2)
    lead(served, 8)
    client, producer = await served.client(), await served.client()
    if has_records:
        await producer.ask(produce(batch_of(b"x"), index=1), 9)
    indexes = reads_of(served, monkeypatch)
    mine = served.dispatcher._services.turns.mine

    moves = [] if has_records else [6]

    def move_what_was_read():
        if moves and len(indexes) >= moves[0]:  # a turn may be one partition only, where the machine is slow
            moves.clear()
            served.replicas.append(TopicPartition("t", 1), memoryview(batch_of(b"x")))
        return mine()

    monkeypatch.setattr(served.dispatcher._services.turns, "mine", move_what_was_read)
    answer = await client.ask(fetch(topic(*map(of, range(8))), min_bytes=1, max_wait_ms=60_000), 12)
    assert indexes == [0, 1, 2, 3, 4, 5, 6, 7] + ([] if has_records else [1])
    assert [partition.partition_index for partition in partitions(answer) if partition.records] == [1]
    await eventually(lambda: len(served.delayed_fetches) == 0, "nothing waits any more")
