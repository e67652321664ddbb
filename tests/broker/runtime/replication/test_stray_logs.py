"""Logs that nobody gave this broker a role for: whose they are is asked before they are put out of the way."""

import shutil
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.clock import SystemClock
from broker.common.cluster import TopicAssignment
from broker.common.errors import ErrorCode
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication import stray_logs
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.stray_logs import StrayLogs
from broker.zookeeper.errors import ZooKeeperError
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually

OURS, EARLIER = UUID(int=1), UUID(int=2)
T_0 = TopicPartition("t", 0)


class Topics:
    """What ZooKeeper says of topics."""

    def __init__(self):
        self.known: dict[str, TopicAssignment] = {}
        self.unreadable: set[str] = set()
        self.is_gone = False
        self.names_asked: list[str] = []
        self.defects: list[Exception] = []

    async def topic(self, name: str) -> TopicAssignment | None:
        self.names_asked.append(name)
        if self.defects:
            raise self.defects.pop(0)
        if self.is_gone:
            raise ZooKeeperError("connection lost")
        return self.known.get(name)

    async def has_unreadable_topic(self, name: str) -> bool:
        return name in self.unreadable


@pytest.fixture
def logs(tmp_path):
    logs = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    logs.load_all()
    log = logs.get_or_create(T_0, OURS)
    log.append(build_batch([Record(0, 0, None, b"kept")]), 0)
    yield logs
    logs.shutdown()


@pytest.fixture
def topics():
    return Topics()


@pytest.fixture
def manager(logs):
    return ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())


@pytest.fixture
def strays(logs, topics, manager):
    return StrayLogs(1, manager, logs, topics)


def aside(tmp_path) -> list:
    return list((tmp_path / "logs").glob("t-0.*-stray"))


@pytest.mark.parametrize(
    "expected",
    [None, TopicAssignment("t", OURS, {0: (2, 3)}), TopicAssignment("t", EARLIER, {0: (1, 2)})],
    ids=["deleted", "moved away", "made anew"],
)
async def test_log_of_a_replica_that_is_elsewhere_is_set_aside_with_its_records(
    strays, topics, logs, tmp_path, expected
):
    if expected:
        topics.known["t"] = expected
    await strays.look()
    assert logs.get(T_0) is not None
    await strays.look()
    assert logs.get(T_0) is None
    (directory,) = aside(tmp_path)
    assert b"kept" in (directory / f"{0:020d}.log").read_bytes()


async def test_a_log_made_anew_beside_a_stray_of_its_topic_names_that_and_how_to_have_it_back(strays, logs, tmp_path):
    """The topic's znode was deleted, and restored with the same id after its logs were set aside."""
    await strays.look()
    await strays.look()
    (stray,) = aside(tmp_path)
    with capture_logs() as lines:
        assert logs.get_or_create(T_0, OURS).log_end_offset == 0
    (line,) = [line for line in lines if line["event"].startswith("log begins empty")]
    assert (line["stray"], line["directory"]) == (str(stray), str(tmp_path / "logs" / "t-0"))
    logs.shutdown()
    shutil.rmtree(line["directory"])
    shutil.move(line["stray"], line["directory"])
    again = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    again.load_all()
    assert again.get(T_0).log_end_offset == 1
    again.shutdown()


async def test_a_log_of_another_topic_id_names_no_stray(strays, logs):
    await strays.look()
    await strays.look()
    with capture_logs() as lines:
        logs.get_or_create(T_0, EARLIER)
    assert [line["event"] for line in lines] == []


async def test_stray_log_is_neither_opened_nor_removed_by_the_next_start(strays, logs, tmp_path):
    await strays.look()
    await strays.look()
    logs.shutdown()
    again = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    again.load_all()
    try:
        assert not again.logs
        assert again.get_or_create(T_0, OURS).log_end_offset == 0
        assert len(aside(tmp_path)) == 1
    finally:
        again.shutdown()


async def test_a_log_stays_while_its_topics_znode_cannot_be_read(strays, topics, logs):
    topics.unreadable = {"t"}
    for _ in range(3):
        await strays.look()
    assert logs.get(T_0) is not None


async def test_a_log_of_a_topic_whose_znode_has_lost_its_id_stays(strays, topics, logs):
    topics.known["t"] = TopicAssignment("t", NO_TOPIC_ID, {0: (1, 2)})
    for _ in range(3):
        await strays.look()
    assert logs.get(T_0) is not None


async def test_a_log_whose_partition_its_topics_znode_lacks_stays_and_is_reported_once(strays, topics, logs):
    """A tool wrote the znode with too few partitions; whoever corrects it finds the records served again."""
    topics.known["t"] = TopicAssignment("t", OURS, {1: (1, 2)})
    with capture_logs() as lines:
        for _ in range(4):
            await strays.look()
    assert logs.get(T_0) is not None
    (line,) = [line for line in lines if "lacks its partition" in line["event"]]
    assert (line["partition"], line["znode"]) == ("t-0", "/brokers/topics/t")


async def test_strays_are_counted_until_an_operator_removes_them(strays, logs, tmp_path):
    await strays.look()
    await strays.look()
    assert len(logs.strays) == 1
    shutil.rmtree(*aside(tmp_path))
    await strays.look()
    assert len(logs.strays) == 0


@pytest.mark.parametrize("replicas", [(1, 2), (2, 3, 1)], ids=["stays", "is on the move"])
async def test_log_of_a_partition_assigned_here_waits_for_its_role(strays, topics, logs, replicas):
    topics.known["t"] = TopicAssignment("t", OURS, {0: replicas})
    for _ in range(3):
        await strays.look()
    assert logs.get(T_0) is not None


async def test_nothing_is_set_aside_while_zookeeper_does_not_answer(strays, topics, logs):
    topics.is_gone = True
    await strays.look()
    with pytest.raises(ZooKeeperError):
        await strays.look()
    assert logs.get(T_0) is not None


async def test_zookeeper_is_not_asked_about_a_log_that_just_came(strays, topics, logs):
    await strays.look()
    logs.get_or_create(TopicPartition("late", 0), OURS)
    await strays.look()
    assert topics.names_asked == ["t"]


async def test_a_look_that_raises_is_followed_by_others(strays, topics, tmp_path, monkeypatch):
    monkeypatch.setattr(stray_logs, "_LOOK_EVERY_S", 0)
    monkeypatch.setattr("broker.runtime.periodic.AFTER_FAILURE_S", 0)
    topics.defects = [RuntimeError("a defect"), ZooKeeperError("connection lost")]
    strays.start()
    await eventually(lambda: aside(tmp_path), "the stray log is found")
    await strays.stop()
    assert len(topics.names_asked) == 3


LATER = UUID(int=3)


def told_to_lead(manager, topic_id: UUID) -> ErrorCode:
    state = LeaderAndIsrPartitionState(leader=1, isr=[1], replicas=[1])
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=topic_id, partition_states=[state])
    return apply_leader_and_isr(manager, LeaderAndIsrRequest(topic_states=[topic]))[topic_id][0]


async def test_partition_of_an_earlier_topic_is_let_go_and_the_next_role_is_taken(strays, topics, manager, tmp_path):
    """As when the topic was deleted while this broker was cut off, by a controller that is no longer."""
    assert told_to_lead(manager, OURS) == ErrorCode.NONE
    assert told_to_lead(manager, LATER) == ErrorCode.INCONSISTENT_TOPIC_ID
    topics.known["t"] = TopicAssignment("t", LATER, {0: (1,)})
    await strays.look()
    assert told_to_lead(manager, LATER) == ErrorCode.NONE
    assert (manager.get(*T_0).topic_id, manager.get(*T_0).log.log_end_offset) == (LATER, 0)
    (directory,) = aside(tmp_path)
    assert b"kept" in (directory / f"{0:020d}.log").read_bytes()


@pytest.mark.parametrize(
    "known",
    [TopicAssignment("t", OURS, {0: (1,)}), TopicAssignment("t", NO_TOPIC_ID, {0: (1,)}), None],
    ids=["ours", "without id", "none"],
)
async def test_partition_in_use_stays_when_what_was_said_of_a_later_topic_is_not_so(strays, topics, manager, known):
    told_to_lead(manager, OURS)
    told_to_lead(manager, LATER)
    topics.known |= {"t": known} if known else {}
    await strays.look()
    assert manager.get(*T_0).partition.is_leader
    assert (await strays.look(), topics.names_asked) == (None, ["t"]), "it was asked once"


async def test_partition_in_doubt_is_asked_for_again_when_zookeeper_did_not_answer(strays, topics, manager):
    told_to_lead(manager, OURS)
    told_to_lead(manager, LATER)
    topics.defects, topics.known["t"] = [ZooKeeperError("connection lost")], TopicAssignment("t", LATER, {0: (1,)})
    with pytest.raises(ZooKeeperError):
        await strays.look()
    await strays.look()
    assert manager.get(*T_0) is None
