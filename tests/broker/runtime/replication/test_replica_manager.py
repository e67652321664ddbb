"""Replicas that are stopped: what leaves the disk, and what a late request may not stop."""

import asyncio
import errno
import threading
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.clock import SystemClock
from broker.common.cluster import LastRole
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.log import log_removal
from broker.log.config import LogConfig
from broker.log.directory import LogDirectory
from broker.log.hosted_logs import UnopenedLog
from broker.log.last_stop import LastStop
from broker.log.log import Log
from broker.log.manager import LogManager, NewLog
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication import hosted_partition
from broker.runtime.replication.hosted_partition import extent_of, last_role
from broker.runtime.replication.replica_logs import set_aside_other_topic
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.role_changes import StoppedPartition, create_logs, stop_replicas
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually


@pytest.fixture
def logs(tmp_path):
    logs = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    logs.load_all()
    yield logs
    logs.shutdown()


def deleted(partition: TopicPartition, leader_epoch: int = -1) -> StoppedPartition:
    return StoppedPartition(partition, is_deletion=True, leader_epoch=leader_epoch)


async def test_a_log_deleted_as_an_earlier_purge_ends_is_purged_too(logs, tmp_path, monkeypatch):
    purge, begun, may_end = logs.purge_deleted, threading.Event(), threading.Event()

    def purge_slowly() -> None:
        purge()
        begun.set()
        may_end.wait(10)

    monkeypatch.setattr(logs, "purge_deleted", purge_slowly)
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    partitions = [TopicPartition("t", index) for index in range(2)]
    for partition in partitions:
        logs.get_or_create(partition, UUID(int=1))
    await stop_replicas(replicas, [deleted(partitions[0])])
    await asyncio.to_thread(begun.wait, 10)
    await stop_replicas(replicas, [deleted(partitions[1])])
    may_end.set()
    await eventually(lambda: not list((tmp_path / "logs").glob("*-delete")), "the files of both logs are gone")


async def test_a_partition_that_could_not_be_deleted_and_comes_back_begins_anew(logs, monkeypatch):
    """There were no descriptors left when its log was to go: closed, it would refuse everybody for ever."""
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    apply_leader_and_isr(replicas, _led_by_1(leader_epoch=5))
    _append(replicas.get("t", 0).log)

    with monkeypatch.context() as patched:
        patched.setattr(log_removal, "open_directory", _out_of_descriptors)
        outcome = await stop_replicas(replicas, [deleted(TopicPartition("t", 0), leader_epoch=5)])
        assert set(outcome.values()) == {ErrorCode.KAFKA_STORAGE_ERROR}
        apply_leader_and_isr(replicas, _led_by_1(leader_epoch=6))
        assert replicas.get("t", 0) is None
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=7))) is ErrorCode.NONE
    log = replicas.leader_log("t", 0).log
    assert log.log_end_offset == 0
    _append(log)


async def test_a_partition_moved_in_the_ordinary_way_is_no_warning(logs):
    """The news of who has it now often come before the request to stop."""
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    apply_leader_and_isr(replicas, _led_by_1(leader_epoch=5))
    hosted = replicas.get("t", 0)
    with capture_logs() as lines:
        replicas.assigned_elsewhere(TopicPartition("t", 0), hosted.topic_id, 6, (2, 3))
    assert replicas.get("t", 0) is None
    assert {line["log_level"] for line in lines} <= {"info"}


async def test_role_in_a_directory_that_has_failed_is_refused(logs):
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=5))) is ErrorCode.NONE
    replicas.get("t", 0).log.on_disk_error(OSError(5, "Input/output error", "disk"))
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=5))) is ErrorCode.KAFKA_STORAGE_ERROR


async def test_partition_this_broker_was_relieved_of_is_led_by_somebody_else(logs):
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    apply_leader_and_isr(replicas, _led_by_1(leader_epoch=5))
    replicas.stop_replica(TopicPartition("t", 0), delete=False, leader_epoch=5)
    assert _refusal(replicas, "t") is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert _refusal(replicas, "u") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    apply_leader_and_isr(replicas, _led_by_1(leader_epoch=6))
    assert replicas.leader_log("t", 0).log.log_end_offset == 0


async def test_late_stop_of_an_earlier_epoch_leaves_a_replica_that_was_given_back(logs):
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    apply_leader_and_isr(replicas, _led_by_1(leader_epoch=5))
    with pytest.raises(ApiError) as refusal:
        replicas.stop_replica(TopicPartition("t", 0), delete=True, leader_epoch=4)
    assert refusal.value.code is ErrorCode.FENCED_LEADER_EPOCH
    assert replicas.get("t", 0).partition.is_leader
    replicas.stop_replica(TopicPartition("t", 0), delete=True, leader_epoch=5)
    assert replicas.get("t", 0) is None


async def test_trap_12_role_under_another_topic_id_begins_with_an_empty_log(logs, tmp_path):
    logs.get_or_create(TopicPartition("t", 0), UUID(int=9)).append(build_batch([Record(0, 0, None, b"old")]), 3)
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0))) is ErrorCode.NONE
    hosted = replicas.get("t", 0)
    assert (hosted.topic_id, hosted.log.log_end_offset) == (UUID(int=1), 0)
    assert logs.topic_id_of(TopicPartition("t", 0)) == UUID(int=1)
    (aside,) = tmp_path.glob("*/t-0.*-stray")
    assert b"old" in b"".join(path.read_bytes() for path in aside.glob("*.log")), "no records are deleted for it"


@pytest.mark.parametrize("is_reconciled", [False, True], ids=["by a role", "before the broker registers"])
async def test_a_log_of_another_topic_that_could_not_be_set_aside_at_once_is_never_deleted(
    logs, tmp_path, monkeypatch, is_reconciled
):
    """Only StopReplica says that records are to go; a failed renaming says nothing."""
    t_0 = TopicPartition("t", 0)
    logs.get_or_create(t_0, UUID(int=9)).append(build_batch([Record(0, 0, None, b"old")]), 3)
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    with monkeypatch.context() as patched:
        patched.setattr(LogDirectory, "rename_aside", _out_of_descriptors)
        if is_reconciled:
            with pytest.raises(ApiError):
                set_aside_other_topic(logs, t_0, UUID(int=1))
        else:
            assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0))) is not ErrorCode.NONE
    await replicas.logs.create([NewLog(t_0, UUID(int=1), is_new=False)])
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0))) is ErrorCode.NONE
    await replicas.logs.purged()
    assert replicas.get("t", 0).log.log_end_offset == 0
    (aside,) = tmp_path.glob("*/t-0.*-stray")
    assert b"old" in b"".join(path.read_bytes() for path in aside.glob("*.log"))


async def test_a_log_that_could_not_be_set_aside_is_served_when_its_role_comes(logs, monkeypatch):
    t_0 = TopicPartition("t", 0)
    _append(logs.get_or_create(t_0, UUID(int=1)))
    with monkeypatch.context() as patched:
        patched.setattr(LogDirectory, "rename_aside", _out_of_descriptors)
        with pytest.raises(ApiError):
            logs.set_aside_as_stray(t_0, "of no use")
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=5))) is ErrorCode.NONE
    assert replicas.get("t", 0).log.log_end_offset == 1
    _append(replicas.get("t", 0).log)


async def test_a_role_that_is_older_than_the_log_is_refused_and_the_epoch_of_the_log_told(logs):
    """The partition's state was removed from ZooKeeper, and all brokers have started anew since."""
    t_0 = TopicPartition("t", 0)
    _append(logs.get_or_create(t_0, UUID(int=1)))
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    older = apply_leader_and_isr(replicas, _led_by_1(leader_epoch=4))
    assert _outcome(older) is ErrorCode.STALE_CONTROLLER_EPOCH
    assert last_role(replicas.get("t", 0)) == LastRole(5)
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=6))) is ErrorCode.NONE
    assert last_role(replicas.get("t", 0)) == LastRole(6, 1, (1,))
    assert last_role(None) == LastRole(-1)


async def test_a_first_role_of_an_epoch_that_the_log_knows_is_refused(logs):
    """The state was removed, all brokers have started anew, and the controller takes the partition for a new one."""
    logs.get_or_create(TopicPartition("t", 0), UUID(int=1)).append(build_batch([Record(0, 0, None, b"kept")]), 0)
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    first = _led_by_1(leader_epoch=0)
    assert _outcome(apply_leader_and_isr(replicas, first)) is ErrorCode.STALE_CONTROLLER_EPOCH
    assert last_role(replicas.get("t", 0)) == LastRole(0)
    first.topic_states[0].partition_states[0].is_new = False
    assert _outcome(apply_leader_and_isr(replicas, first)) is ErrorCode.NONE


async def test_a_first_role_that_is_told_twice_is_taken_and_that_of_a_later_controller_is_refused(logs):
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    first = _led_by_1(leader_epoch=0)
    state = first.topic_states[0].partition_states[0]
    for _ in range(2):
        assert _outcome(apply_leader_and_isr(replicas, first)) is ErrorCode.NONE
    state.controller_epoch += 1
    assert _outcome(apply_leader_and_isr(replicas, first)) is ErrorCode.STALE_CONTROLLER_EPOCH
    assert last_role(replicas.get("t", 0)) == LastRole(0, 1, (1,))


async def test_the_extent_of_a_log_whose_records_are_all_deleted_has_their_epoch(logs):
    log = logs.get_or_create(TopicPartition("t", 0), UUID(int=1))
    assert extent_of(log) == (-1, 0)
    _append(log)
    assert extent_of(log) == (5, 1)
    log.delete_records(1, 1)
    assert extent_of(log) == (5, 1)


async def test_a_role_whose_log_waits_for_room_is_told_again_until_it_is_open(logs):
    partition, topic_id = TopicPartition("t", 0), _led_by_1(leader_epoch=0).topic_states[0].topic_id
    log = logs.get_or_create(partition, topic_id)
    home = logs.home_of(partition)
    log.close()
    logs._forget(partition)
    stop = LastStop(is_clean=False, lost_page_cache=False, noted=None)
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    for reason, code in ((None, ErrorCode.KAFKA_STORAGE_ERROR), (stop, ErrorCode.REPLICA_NOT_AVAILABLE)):
        logs._unopened[partition] = UnopenedLog(home, "there is no room", reason)
        assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0))) is code
    await create_logs(replicas, _led_by_1(leader_epoch=0))
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0))) is ErrorCode.NONE


async def test_a_role_without_a_topic_id_is_one_in_the_topic_that_the_log_notes(logs):
    log = logs.get_or_create(TopicPartition("t", 0), UUID(int=9))
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    outcomes = apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0, topic_id=NO_TOPIC_ID))
    assert outcomes == {NO_TOPIC_ID: {0: ErrorCode.NONE}}
    assert (replicas.get("t", 0).topic_id, replicas.get("t", 0).log) == (UUID(int=9), log)


async def test_a_role_in_a_topic_of_which_no_id_is_known_waits_for_one(logs):
    """Two such topics would share all that is known by ids: followers fetch by them."""
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    request = _led_by_1(leader_epoch=0, topic_id=NO_TOPIC_ID)
    logs.get_or_create(TopicPartition("u", 0), UUID(int=2))
    request.topic_states += _led_by_1(leader_epoch=0, topic="u", topic_id=NO_TOPIC_ID).topic_states
    outcomes = apply_leader_and_isr(replicas, request)
    assert outcomes == {NO_TOPIC_ID: {0: ErrorCode.REPLICA_NOT_AVAILABLE}}, "an error is not hidden by a success"
    assert (replicas.get("t", 0), replicas.topic_names.of(NO_TOPIC_ID)) == (None, "")
    assert logs.get(TopicPartition("t", 0)) is None


async def test_a_role_under_the_id_of_another_hosted_topic_is_refused(logs):
    """A znode was copied with the id in it: followers, who fetch by ids, would get the other topic's records."""
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0))
    assert _outcome(apply_leader_and_isr(replicas, _led_by_1(leader_epoch=0, topic="u"))) is (
        ErrorCode.INCONSISTENT_TOPIC_ID
    )
    assert (replicas.get("u", 0), replicas.topic_names.of(UUID(int=1))) == (None, "t")


async def test_a_role_that_cannot_be_taken_is_the_matter_of_its_partition_alone(logs, monkeypatch):
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    begin, roles = Log.begin_leader_epoch, []
    replicas.on_role.append(
        lambda hosted: roles.append((hosted.partition.topic_partition.topic, hosted.partition.state))
    )

    def begin_or_raise(log: Log, leader_epoch: int) -> None:
        if log is logs.get(TopicPartition("t", 0)):
            raise RuntimeError("a defect")
        begin(log, leader_epoch)

    request = _led_by_1(leader_epoch=5)
    request.topic_states += _led_by_1(leader_epoch=5, topic="u", topic_id=UUID(int=2)).topic_states
    with monkeypatch.context() as broken:
        broken.setattr(Log, "begin_leader_epoch", begin_or_raise)
        outcomes = apply_leader_and_isr(replicas, request)
    assert _outcome(outcomes) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert outcomes[UUID(int=2)][0] is ErrorCode.NONE
    assert roles[0] == ("t", None), "whoever thought it led here is told that it does not"
    assert _refusal(replicas, "t") is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert replicas.leader_log("u", 0).partition.leader_epoch == 5
    assert _outcome(apply_leader_and_isr(replicas, request)) is ErrorCode.NONE
    assert replicas.leader_log("t", 0).partition.leader_epoch == 5


async def test_what_a_topic_asks_for_counts_from_the_first_role_on(tmp_path):
    logs = LogManager([tmp_path / "logs"], LogConfig(min_insync_replicas=2), 1, "cluster")
    logs.load_all()
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    request = _led_by_1(leader_epoch=5)
    request.topic_states[0].partition_states[0].replicas = [1, 2]
    apply_leader_and_isr(replicas, request)
    batch = memoryview(build_batch([Record(0, 0, None, b"x")]))
    with pytest.raises(ApiError) as refused:
        replicas.append(TopicPartition("t", 0), batch, is_for_all=True)
    assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    replicas.append(TopicPartition("t", 0), batch)
    hosted = replicas.get("t", 0)
    assert (hosted.partition.high_watermark, hosted.log.log_end_offset) == (0, 1)
    replicas.configure(hosted, LogConfig(min_insync_replicas=1))
    assert hosted.partition.high_watermark == 1
    logs.shutdown()


def _led_by_1(leader_epoch: int, topic: str = "t", topic_id: UUID = UUID(int=1)) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        partition_index=0, leader=1, leader_epoch=leader_epoch, isr=[1], replicas=[1], is_new=True
    )
    leader_and_isr_topic_state = LeaderAndIsrTopicState(topic_name=topic, topic_id=topic_id, partition_states=[state])
    return LeaderAndIsrRequest(topic_states=[leader_and_isr_topic_state])


def _outcome(outcomes) -> ErrorCode:
    return outcomes[UUID(int=1)][0]


def _refusal(replicas: ReplicaManager, topic: str) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        replicas.leader_log(topic, 0)
    return refused.value.code


async def test_who_raises_when_it_hears_of_a_role_is_told_again_of_the_role_as_it_is_then(logs, monkeypatch):
    """A partition that its fetchers do not know of would not be followed until the controller speaks again."""
    monkeypatch.setattr(hosted_partition, "_TELL_AGAIN_S", 0.01)
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    heard: list[int] = []

    def listen(hosted) -> None:
        heard.append(hosted.partition.leader_epoch)
        if len(heard) == 1:
            raise RuntimeError("nobody foresaw this")

    replicas.on_role.append(listen)
    for epoch in (1, 2):
        state = LeaderAndIsrPartitionState(
            partition_index=0, leader=2, leader_epoch=epoch, isr=[2], replicas=[1, 2], is_new=True
        )
        topic = LeaderAndIsrTopicState(topic_name="t", topic_id=UUID(int=1), partition_states=[state])
        apply_leader_and_isr(replicas, LeaderAndIsrRequest(topic_states=[topic]))
    await eventually(lambda: len(heard) == 3, "it is told again")
    assert heard == [1, 2, 2]


def _append(log: Log) -> None:
    log.append(build_batch([Record(0, 0, None, b"value")]), 5)


def _out_of_descriptors(*_arguments) -> None:
    raise OSError(errno.EMFILE, "Too many open files")
