"""Answers of thousands of elements: encoded in turns with others, whole in the end, a few at a time."""

import asyncio

import pytest

from broker.common.errors import ErrorCode
from broker.common.limits import ENTRIES_ENCODED_IN_A_TURN, LONG_ANSWERS_ENCODED_MAX, THINGS_IN_A_TURN
from broker.config.topic import KEYS
from broker.net.turns import Turns
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from broker.runtime.in_turns import steps_in_turns
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC

PARTITIONS = 3_000


@pytest.fixture
def turns(monkeypatch):
    """How often somebody let others have their turn."""

    class Count:
        taken = 0

    mine = Turns.mine

    def counted(turns):
        Count.taken += 1
        return mine(turns)

    monkeypatch.setattr(Turns, "mine", counted)
    return Count


async def answer_of(served, request, version):
    return await (await served.client()).ask(request, version)


async def test_all_partitions_of_a_wide_topic_are_told_in_turns(served, turns):
    served.tell_of("wide", PARTITIONS)
    for request in (MetadataRequest(topics=[MetadataRequestTopic(name="wide")]), MetadataRequest(topics=None)):
        turns.taken = 0
        (topic,) = (await answer_of(served, request, 9)).topics
        assert [partition.partition_index for partition in topic.partitions] == list(range(PARTITIONS))
        assert turns.taken >= PARTITIONS // ENTRIES_ENCODED_IN_A_TURN - 1


async def test_replicas_are_stopped_in_turns(served, turns):
    states = [StopReplicaPartitionState(partition_index=index) for index in range(10 * THINGS_IN_A_TURN)]
    topic = StopReplicaTopicState(topic_name="none", partition_states=states)
    request = StopReplicaRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, topic_states=[topic])
    member = await served.member()
    turns.taken = 0
    response = await member.ask(request, 4)
    assert len(response.partition_errors) == len(states)
    assert turns.taken >= 2 * 9  # what is to be stopped, and what is answered; stopping it has a pace of its own


async def test_one_topic_is_told_at_once(served, turns):
    served.tell_of("t", 10)
    (topic,) = (await answer_of(served, MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 9)).topics
    assert (len(topic.partitions), turns.taken) == (10, 0)


async def test_configurations_of_many_topics_are_described_in_turns(served, turns):
    names = [f"t-{number}" for number in range(100)]
    for name in names:
        served.tell_of(name)
    resources = [
        DescribeConfigsResource(resource_type=2, resource_name=name, configuration_keys=None) for name in names
    ]
    response = await answer_of(served, DescribeConfigsRequest(resources=resources, include_synonyms=True), 4)
    assert [result.resource_name for result in response.results] == names
    assert {len(result.configs) for result in response.results} == {len(KEYS)}
    assert turns.taken >= 100 * len(KEYS) // ENTRIES_ENCODED_IN_A_TURN


async def test_errors_in_a_long_answer_are_counted(served):
    partitions = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(PARTITIONS)]
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name="missing", partitions=partitions)])
    (topic,) = (await answer_of(served, request, 7)).topics
    assert {partition.error_code for partition in topic.partitions} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert served.request_times.of(ApiKey.LIST_OFFSETS).error_count == 1


def committing(**offsets: range) -> OffsetCommitRequest:
    """By topic, the partitions; each offset is the partition's number plus one."""
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=partition, committed_offset=partition + 1, committed_metadata=""
                )
                for partition in partitions
            ],
        )
        for name, partitions in offsets.items()
    ]
    return OffsetCommitRequest(group_id="g", topics=topics)


@pytest.fixture
async def coordinating(served):
    served.lead(OFFSETS_TOPIC, 3)
    served.tell_of(OFFSETS_TOPIC, 3)
    served.tell_of("wide", PARTITIONS)
    return served


async def test_offsets_of_many_partitions_are_committed_in_turns_and_all_of_them(coordinating, turns):
    request = committing(missing=range(150), wide=range(PARTITIONS + 50))
    response = await answer_of(coordinating, request, 7)
    codes = {topic.name: [partition.error_code for partition in topic.partitions] for topic in response.topics}
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == {"missing": [unknown] * 150, "wide": [ErrorCode.NONE] * PARTITIONS + [unknown] * 50}
    assert turns.taken >= PARTITIONS // THINGS_IN_A_TURN


@pytest.mark.parametrize("is_everything", [True, False])
@pytest.mark.parametrize("version", [7, 8])
async def test_offsets_of_many_partitions_are_fetched_in_turns(coordinating, turns, version, is_everything):
    await answer_of(coordinating, committing(wide=range(PARTITIONS)), 7)
    turns.taken = 0
    wide = OffsetFetchRequestTopic(name="wide", partition_indexes=list(range(PARTITIONS)))
    topics = None if is_everything else [wide]
    if version < 8:
        response = await answer_of(coordinating, OffsetFetchRequest(group_id="g", topics=topics), version)
    else:
        groups = [OffsetFetchRequestGroup(group_id="g", topics=topics)]
        (response,) = (await answer_of(coordinating, OffsetFetchRequest(groups=groups), version)).groups
    (topic,) = response.topics
    offsets = {partition.partition_index: partition.committed_offset for partition in topic.partitions}
    assert offsets == {index: index + 1 for index in range(PARTITIONS)}
    assert turns.taken >= PARTITIONS // ENTRIES_ENCODED_IN_A_TURN - 1


async def test_what_comes_behind_a_long_commit_sees_all_of_it(coordinating):
    client = await coordinating.client()
    await client.send_request(committing(wide=range(PARTITIONS)), 7, 1)
    last = OffsetFetchRequestTopic(name="wide", partition_indexes=[PARTITIONS - 1])
    await client.send_request(OffsetFetchRequest(group_id="g", topics=[last]), 7, 2)
    await client.answer(ApiKey.OFFSET_COMMIT, 7, 1)
    (topic,) = (await client.answer(ApiKey.OFFSET_FETCH, 7, 2)).topics
    assert topic.partitions[0].committed_offset == PARTITIONS


async def test_a_few_long_answers_are_encoded_at_a_time(served, monkeypatch):
    under_way = most = 0

    async def counted(steps, turns):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        framed = await steps_in_turns(steps, turns)
        under_way -= 1
        return framed

    monkeypatch.setattr("broker.server.dispatcher.steps_in_turns", counted)
    served.tell_of("wide", PARTITIONS)
    asking = (answer_of(served, MetadataRequest(topics=None), 9) for _ in range(3 * LONG_ANSWERS_ENCODED_MAX))
    answers = await asyncio.gather(*asking)
    assert {len(answer.topics[0].partitions) for answer in answers} == {PARTITIONS}
    assert most == LONG_ANSWERS_ENCODED_MAX


async def test_who_hangs_up_in_the_middle_of_a_long_answer_leaves_room_for_the_next(served):
    served.tell_of("wide", PARTITIONS)
    for _ in range(2 * LONG_ANSWERS_ENCODED_MAX):
        client = await served.client()
        await client.send_request(MetadataRequest(topics=None), 9)
        client.writer.transport.abort()
    assert (await answer_of(served, MetadataRequest(topics=None), 9)).topics
