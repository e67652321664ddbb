"""A member that lies: about names that become paths, and about what is to be deleted."""

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ErrorCode
from broker.common.limits import BROKERS_MAX, LISTENERS_MAX
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.broker.server.conftest import TOPIC_ID

NAMES = ["", ".", "..", "../out", "../../out", "{outside}", "in/side", "a" * 300, "a\0b", "\ud7ff", "a b"]


def leading(name: str, index: int = 0) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(partition_index=index, leader=1, isr=[1], replicas=[1], is_new=True)
    topic = LeaderAndIsrTopicState(topic_name=name, topic_id=TOPIC_ID, partition_states=[state])
    return LeaderAndIsrRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, topic_states=[topic])


def deleting(name: str, index: int = 0) -> StopReplicaRequest:
    state = StopReplicaPartitionState(partition_index=index, leader_epoch=-2, delete_partition=True)
    topic = StopReplicaTopicState(topic_name=name, partition_states=[state])
    return StopReplicaRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, topic_states=[topic])


@pytest.fixture
def outside(tmp_path):
    """What is no business of the broker's: a directory that is named as a partition's would be."""
    victim = tmp_path / "outside-0"
    victim.mkdir()
    (victim / "notes.txt").write_text("not the broker's")
    return victim


def everything(tmp_path) -> list[str]:
    return sorted(str(path) for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{name!r:.20}")
async def test_a_name_that_is_none_makes_and_deletes_nothing(served, tmp_path, outside, name):
    name = name.format(outside=str(outside).removesuffix("-0"))
    before = everything(tmp_path)
    member = await served.member()
    with capture_logs() as lines:
        answer = await member.ask(leading(name), 7)
    assert [line["log_level"] for line in lines] == ["warning"]
    (error,) = answer.topics[0].partition_errors
    assert error.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert (await member.ask(deleting(name), 4)).error_code == ErrorCode.NONE
    state = UpdateMetadataPartitionState(leader=1, isr=[1], replicas=[1])
    topic = UpdateMetadataTopicState(topic_name=name, topic_id=TOPIC_ID, partition_states=[state])
    request = UpdateMetadataRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, topic_states=[topic])
    assert (await member.ask(request, 8)).error_code == ErrorCode.NONE
    await served.replicas.logs.purged()
    assert everything(tmp_path) == before
    assert not served.logs.offline_directories
    assert (await (await served.client()).ask(MetadataRequest(topics=[]), 9)).cluster_id == "cluster"


@pytest.mark.parametrize(("name", "index"), [("t", -1), ("t", -(2**31)), ("a" * 249, 2**31 - 1)])
async def test_a_number_that_is_none_makes_nothing(served, tmp_path, name, index):
    before = everything(tmp_path)
    member = await served.member()
    with capture_logs() as lines:
        answer = await member.ask(leading(name, index), 7)
    assert [line["log_level"] for line in lines] == ["warning"]
    assert answer.topics[0].partition_errors[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert everything(tmp_path) == before


async def test_only_what_is_a_log_of_this_broker_is_deleted(served, tmp_path):
    """A directory that is called as a partition, and was not made by this broker."""
    somebodys = tmp_path / "logs" / "backup-2026"
    somebodys.mkdir()
    (somebodys / "notes.txt").write_text("not the broker's")
    assert (await (await served.member()).ask(deleting("backup", 2026), 4)).error_code == ErrorCode.NONE
    await served.replicas.logs.purged()
    assert (somebodys / "notes.txt").exists()


def alive(brokers: int = 1, listeners: int = 1) -> UpdateMetadataRequest:
    endpoints = [UpdateMetadataEndpoint(port=9, host="h", listener=str(index)) for index in range(listeners)]
    live = [UpdateMetadataBroker(id=index, endpoints=endpoints) for index in range(brokers)]
    return UpdateMetadataRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, live_brokers=live)


@pytest.mark.parametrize("update", [alive(BROKERS_MAX + 1), alive(listeners=LISTENERS_MAX + 1)], ids=["many", "wide"])
async def test_brokers_that_no_client_wants_to_be_told_of_are_not_believed(served, update):
    member = await served.member()
    assert (await member.ask(alive(3), 8)).error_code == ErrorCode.NONE
    assert (await member.ask(update, 8)).error_code == ErrorCode.INVALID_REQUEST
    assert served.metadata.brokers.keys() == {0, 1, 2}
