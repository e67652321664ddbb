"""Requests that ask for what cannot be, and the code Kafka gives for each."""

import errno
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.log.directory import LogDirectory
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from tests.broker.server.conftest import TOPIC_ID
from tests.broker.server.test_bad_input import batch_of, produce


async def test_clients_do_not_write_to_the_offsets_topic(served):
    served.lead(OFFSETS_TOPIC)
    request = produce(batch_of(b"x"), topic=OFFSETS_TOPIC)
    answer = (await (await served.member()).ask(request, 9)).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert served.replicas.get(OFFSETS_TOPIC, 0).log.log_end_offset == 0


async def test_a_partition_named_twice_is_written_twice_and_answered_twice(served):
    served.lead("t")
    request = produce(batch_of(b"a"))
    request.topic_data[0].partition_data.append(produce(batch_of(b"b")).topic_data[0].partition_data[0])
    answers = (await (await served.member()).ask(request, 9)).responses[0].partition_responses
    assert [answer.base_offset for answer in answers] == [0, 1]


async def test_a_log_that_cannot_be_deleted_is_told_to_the_controller(served, monkeypatch):
    def refuse(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    served.lead("t")
    monkeypatch.setattr(LogDirectory, "rename_aside", refuse)
    states = [StopReplicaPartitionState(partition_index=0, leader_epoch=-2, delete_partition=True)]
    topic = StopReplicaTopicState(topic_name="t", partition_states=states)
    request = StopReplicaRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, topic_states=[topic])
    answer = await (await served.member()).ask(request, 4)
    assert answer.partition_errors[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR


async def metadata_of(served, version: int, *topics: MetadataRequestTopic):
    answer = await (await served.member()).ask(MetadataRequest(topics=list(topics)), version)
    return [(topic.error_code, topic.name) for topic in answer.topics]


async def test_a_topic_asked_for_twice_is_described_once(served):
    served.tell_of("t")
    topics = [MetadataRequestTopic(name=name) for name in ("t", "missing", "t", "missing")]
    assert await metadata_of(served, 9, *topics) == [
        (ErrorCode.NONE, "t"),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "missing"),
    ]


@pytest.mark.parametrize("name", ["", "no/slash", "..", "x" * 250])
async def test_a_name_no_topic_can_have_is_said_to_be_invalid(served, name):
    topic = MetadataRequestTopic(name=name)
    assert await metadata_of(served, 12, topic) == [(ErrorCode.INVALID_TOPIC_EXCEPTION, name)]


@pytest.mark.parametrize("version", [10, 11])
async def test_topics_cannot_be_asked_for_by_id_before_version_12(served, version):
    served.tell_of("t")
    by_id = MetadataRequestTopic(name=None, topic_id=TOPIC_ID)
    assert await metadata_of(served, version, by_id) == [(ErrorCode.INVALID_REQUEST, "")]


async def test_topics_are_found_by_id(served):
    served.tell_of("t")
    known, unknown = (MetadataRequestTopic(name=None, topic_id=UUID(int=number)) for number in (TOPIC_ID.int, 5))
    assert await metadata_of(served, 12, known, unknown) == [
        (ErrorCode.NONE, "t"),
        (ErrorCode.UNKNOWN_TOPIC_ID, None),
    ]


async def test_offsets_of_partitions_that_are_not_there_are_refused_one_by_one(served):
    served.lead(OFFSETS_TOPIC)
    served.tell_of(OFFSETS_TOPIC)
    served.tell_of("t", partitions=2)
    indexes_by_topic = {"t": [0, 2], "missing": [0]}
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            partitions=[OffsetCommitRequestPartition(partition_index=index, committed_offset=1) for index in indexes],
        )
        for name, indexes in indexes_by_topic.items()
    ]
    answer = await (await served.member()).ask(OffsetCommitRequest(group_id="g", topics=topics), 8)
    assert {
        (topic.name, partition.partition_index): partition.error_code
        for topic in answer.topics
        for partition in topic.partitions
    } == {
        ("t", 0): ErrorCode.NONE,
        ("t", 2): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("missing", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


@pytest.mark.parametrize(("key_type", "key"), [(7, "a"), (1, "")])
async def test_coordinators_there_are_none_of_are_refused(served, key_type, key):
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    answer = await (await served.member()).ask(request, 4)
    assert [coordinator.error_code for coordinator in answer.coordinators] == [ErrorCode.INVALID_REQUEST]


@pytest.mark.parametrize(("key_type", "topic"), [(0, OFFSETS_TOPIC), (1, TRANSACTION_TOPIC)])
async def test_the_first_to_ask_for_a_coordinator_has_its_topic_created(served, key_type, topic):
    served.tell_of("other")
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a"])
    answer = await (await served.member()).ask(request, 4)
    assert [(coordinator.error_code, coordinator.node_id) for coordinator in answer.coordinators] == [
        (ErrorCode.NONE, 1)
    ]
    assert len(served.metadata.topics[topic].partitions) == 3


async def test_no_coordinator_is_found_for_no_key(served):
    assert (await (await served.member()).ask(FindCoordinatorRequest(coordinator_keys=[]), 4)).coordinators == []


async def test_names_that_collide_in_metrics_are_refused(served):
    served.tell_of("a.b_c")
    created = await create(served, CreatableTopic(name="a_b.c", num_partitions=1, replication_factor=1))
    assert created.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert "a.b_c" in created.error_message


async def test_a_topic_that_is_only_validated_has_no_id(served):
    topic = CreatableTopic(name="t", num_partitions=3, replication_factor=1)
    served.tell_of("other")
    created = await create(served, topic, validate_only=True)
    assert (created.error_code, created.topic_id, created.num_partitions) == (ErrorCode.NONE, UUID(int=0), 3)
    assert "t" not in served.metadata.topics


async def create(served, topic: CreatableTopic, validate_only: bool = False):
    request = CreateTopicsRequest(topics=[topic], timeout_ms=1000, validate_only=validate_only)
    return (await (await served.member()).ask(request, 7)).topics[0]


async def test_the_offsets_topic_gets_its_own_settings_even_if_metadata_creates_it(served, monkeypatch):
    served.tell_of("other")
    monkeypatch.setattr(served.config, "auto_create_topics_enable", True)
    await metadata_of(served, 9, MetadataRequestTopic(name=OFFSETS_TOPIC))
    assert len(served.metadata.topics[OFFSETS_TOPIC].partitions) == 3
