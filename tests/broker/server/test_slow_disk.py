"""A disk that takes its time for partitions that come or go stalls nobody else, nor do many of them at once."""

import asyncio
import os
import threading

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PARTITIONS_PER_CALLBACK
from broker.common.types import TopicPartition
from broker.log import files, log_removal, manager
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from broker.runtime.replication.role_changes import create_logs, take_roles
from tests.broker.server.conftest import topic_id_of
from tests.broker.server.test_bad_input import batch_of, produce
from tests.eventually import eventually


def leading(topic: str, partitions: int, controller_epoch: int = 1) -> LeaderAndIsrRequest:
    states = [
        LeaderAndIsrPartitionState(partition_index=index, leader=1, leader_epoch=0, isr=[1], replicas=[1], is_new=True)
        for index in range(partitions)
    ]
    return LeaderAndIsrRequest(
        controller_id=1,
        controller_epoch=controller_epoch,
        broker_epoch=-1,
        topic_states=[LeaderAndIsrTopicState(topic_name=topic, topic_id=topic_id_of(topic), partition_states=states)],
    )


@pytest.fixture
def disk(monkeypatch):
    """Stands still in `has_begun` until it `may_go_on`; must not be waited for on the loop's thread."""

    class Disk:
        has_begun, may_go_on = threading.Event(), threading.Event()

        def fsync(self, file):
            assert threading.current_thread() is not threading.main_thread(), "the loop waits for the disk"
            self.has_begun.set()
            assert self.may_go_on.wait(30)
            return fsync_file(file)

    disk, fsync_file = Disk(), files.fsync_file
    monkeypatch.setattr(manager, "fsync_directory", lambda path: disk.fsync(files.open_directory(path)))
    monkeypatch.setattr(log_removal, "fsync_file", disk.fsync)
    yield disk
    disk.may_go_on.set()


async def begun(disk):
    assert await asyncio.to_thread(disk.has_begun.wait, 20)


async def test_others_are_served_while_new_partitions_wait_for_the_disk(served, disk):
    disk.may_go_on.set()
    controller, producer = await served.member(), await served.client()
    await controller.ask(leading("t", 1), 7)
    disk.may_go_on.clear()
    disk.has_begun.clear()
    await controller.send_request(leading("u", 3), 7)
    await begun(disk)
    written = (await producer.ask(produce(batch_of(b"x")), 9)).responses[0].partition_responses[0]
    assert (written.error_code, written.base_offset) == (ErrorCode.NONE, 0)
    assert served.replicas.get("u", 0) is None
    disk.may_go_on.set()
    answer = await controller.answer(ApiKey.LEADER_AND_ISR, 7)
    assert {error.error_code for error in answer.topics[0].partition_errors} == {ErrorCode.NONE}
    assert served.replicas.get("u", 2).partition.is_leader


async def test_others_are_served_while_missing_logs_are_made_anew_that_were_withheld(served, disk):
    """An operator has elected other leaders for all that a broker with a new disk was the last in sync of."""
    disk.may_go_on.set()
    request = leading("t", 3)
    for state in request.topic_states[0].partition_states:
        served.logs.withheld.add(TopicPartition("t", state.partition_index))
        state.leader, state.replicas, state.is_new = 2, [2, 1], False
    answer = await (await served.member()).ask(request, 7)
    assert {error.error_code for error in answer.topics[0].partition_errors} == {ErrorCode.NONE}
    assert served.logs.withheld == set()


async def test_a_controller_replaced_while_the_disk_was_slow_gives_no_role(served, disk):
    old = await served.member()
    await old.send_request(leading("t", 1, controller_epoch=1), 7)
    await begun(disk)
    served.replicas.controller_epoch = 2
    disk.may_go_on.set()
    assert (await old.answer(ApiKey.LEADER_AND_ISR, 7)).error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    assert served.replicas.get("t", 0) is None


async def test_roles_are_applied_in_the_order_they_came(served, disk):
    first, second = await served.member(), await served.member()
    await first.send_request(leading("t", 1, controller_epoch=1), 7)
    await begun(disk)
    await second.send_request(leading("t", 2, controller_epoch=1), 7)
    disk.may_go_on.set()
    for controller in (first, second):
        answer = await controller.answer(ApiKey.LEADER_AND_ISR, 7)
        assert {error.error_code for error in answer.topics[0].partition_errors} == {ErrorCode.NONE}
    assert served.replicas.get("t", 1).partition.is_leader


async def test_a_configuration_set_while_the_disk_was_slow_counts(served, disk):
    controller = await served.member()
    await controller.send_request(leading("t", 1), 7)
    await begun(disk)
    served.store.configs["t"] = {"segment.bytes": "500"}
    await served.topic_configs.apply("t")
    disk.may_go_on.set()
    await controller.answer(ApiKey.LEADER_AND_ISR, 7)
    assert served.replicas.get("t", 0).log.config.segment_bytes == 500


async def test_a_partition_whose_log_cannot_be_made_is_answered_with_the_reason(served, monkeypatch):
    create = served.logs._create

    def refuse_second(partition, topic_id, *, is_new):
        if partition.partition == 1:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        return create(partition, topic_id, is_new=is_new)

    monkeypatch.setattr(served.logs, "_create", refuse_second)
    answer = await (await served.member()).ask(leading("t", 3), 7)
    codes = {error.partition_index: error.error_code for error in answer.topics[0].partition_errors}
    assert codes == {0: ErrorCode.NONE, 1: ErrorCode.REPLICA_NOT_AVAILABLE, 2: ErrorCode.NONE}


# --- deleting


def deleting(topic: str, partitions: int) -> StopReplicaRequest:
    states = [
        StopReplicaPartitionState(partition_index=index, leader_epoch=-2, delete_partition=True)
        for index in range(partitions)
    ]
    topics = [StopReplicaTopicState(topic_name=topic, partition_states=states)]
    return StopReplicaRequest(controller_id=1, controller_epoch=1, broker_epoch=-1, topic_states=topics)


async def test_many_partitions_are_deleted_with_one_fsync_of_their_directory(served, monkeypatch):
    controller = await served.member()
    await controller.ask(leading("t", 50), 7)
    synced, fsync_file = [], log_removal.fsync_file

    def count(file) -> None:
        synced.append((os.readlink(f"/proc/self/fd/{file.fd}"), threading.current_thread() is threading.main_thread()))
        fsync_file(file)

    monkeypatch.setattr(log_removal, "fsync_file", count)
    answer = await controller.ask(deleting("t", 50), 4)
    assert {error.error_code for error in answer.partition_errors} == {ErrorCode.NONE}
    assert len(answer.partition_errors) == 50
    assert synced == [(str(served.logs.online_directories[0]), False)]
    assert not served.logs.logs


async def test_others_are_served_while_a_topic_is_deleted_and_it_is_made_anew_afterwards(served, disk):
    disk.may_go_on.set()
    controller, producer, another = await served.member(), await served.client(), await served.member()
    await controller.ask(leading("t", 1), 7)
    await controller.ask(leading("old", 2), 7)
    served.replicas.append(TopicPartition("old", 0), batch_of(b"x"))
    disk.may_go_on.clear()
    disk.has_begun.clear()
    await controller.send_request(deleting("old", 2), 4)
    await begun(disk)
    await another.send_request(leading("old", 2), 7)
    written = (await producer.ask(produce(batch_of(b"x")), 9)).responses[0].partition_responses[0]
    assert (written.error_code, written.base_offset) == (ErrorCode.NONE, 0)
    disk.may_go_on.set()
    deleted = await controller.answer(ApiKey.STOP_REPLICA, 4)
    assert {error.error_code for error in deleted.partition_errors} == {ErrorCode.NONE}
    made = await another.answer(ApiKey.LEADER_AND_ISR, 7)
    assert {error.error_code for error in made.topics[0].partition_errors} == {ErrorCode.NONE}
    assert served.replicas.get("old", 0).log.log_end_offset == 0


async def test_a_deletion_whose_asker_goes_away_is_done_all_the_same(served, disk):
    disk.may_go_on.set()
    controller, another = await served.member(), await served.member()
    await controller.ask(leading("old", 2), 7)
    disk.may_go_on.clear()
    disk.has_begun.clear()
    await controller.send_request(deleting("old", 2), 4)
    await begun(disk)
    controller.writer.close()
    await eventually(lambda: not served.dispatcher._working and not served.dispatcher._cancelling, "it is gone")
    await another.send_request(deleting("old", 2), 4)
    disk.may_go_on.set()
    deleted = await another.answer(ApiKey.STOP_REPLICA, 4)
    assert [error.error_code for error in deleted.partition_errors] == [ErrorCode.NONE] * 2
    assert not served.logs.logs
    made = await another.ask(leading("old", 2), 7)
    assert {error.error_code for error in made.topics[0].partition_errors} == {ErrorCode.NONE}


# --- failing over


async def test_a_fail_over_reads_no_configuration(served, monkeypatch):
    controller = await served.member()
    await controller.ask(leading("t", 3), 7)
    names, config = [], served.store.config

    async def count(entity_type, name):
        names.append(name)
        return await config(entity_type, name)

    monkeypatch.setattr(served.store, "config", count)
    again = leading("t", 3)
    for state in again.topic_states[0].partition_states:
        state.leader_epoch = 1
    assert not (await controller.ask(again, 7)).error_code
    assert served.replicas.get("t", 2).partition.leader_epoch == 1
    assert names == []
    await controller.ask(leading("u", 3), 7)
    assert names == ["u"]


async def test_others_have_their_turn_between_many_roles(served):
    """A callback deals with some of them: how many is counted by the turns the loop had."""
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        asyncio.get_running_loop().call_soon(turn)

    request = leading("t", 200)
    served.replicas.controller_epoch = 1
    await create_logs(served.replicas, request)
    asyncio.get_running_loop().call_soon(turn)
    await take_roles(served.replicas, request, {})
    assert turns >= 200 // PARTITIONS_PER_CALLBACK
