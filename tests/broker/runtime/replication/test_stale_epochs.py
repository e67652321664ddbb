"""Partition states with older leader epochs than the logs, as a backup of ZooKeeper brings them; both are real."""

from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.replication.log_reconciliation import LogReconciliation
from broker.zookeeper import znodes
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.manual_clock import ManualClock

FIRST, SECOND = 1, 2
TOPIC = UUID(int=7)
T_0, T_1 = TopicPartition("t", 0), TopicPartition("t", 1)
BACKUP = LeaderAndIsr(FIRST, 1, (FIRST, SECOND), 1)


@pytest.fixture
async def store(zookeeper, tmp_path):
    session = ZooKeeperSession(f"127.0.0.1:{zookeeper.port}/stale-{tmp_path.name}", 4_000)
    await session.connect(10_000)
    cluster = ClusterStore(session, ManualClock())
    await cluster.ensure_persistent_paths()
    await cluster.create_topic("t", {0: (FIRST, SECOND), 1: (FIRST, SECOND)}, {}, TOPIC)
    await session.create(znodes.partitions_path("t"))
    for partition in (T_0, T_1):
        await session.create(znodes.partition_path(partition))
        await session.create(znodes.state_path(partition), znodes.encode_state(BACKUP))
    yield cluster
    await session.close()


@pytest.fixture
def logs_of(tmp_path):
    """The logs of a broker whose partition 0 was written last in this leader epoch, and partition 1 in epoch 1."""
    opened: list[LogManager] = []

    def logs_of_broker(broker_id: int, epoch: int) -> LogManager:
        logs = LogManager([tmp_path / str(broker_id)], LogConfig(), broker_id, "cluster")
        opened.append(logs)
        logs.load_all()
        for partition, last_epoch in ((T_0, epoch), (T_1, 1)):
            log = logs.get_or_create(partition, TOPIC)
            for written_in in (0, last_epoch):
                log.begin_leader_epoch(written_in)
                log.append(build_batch([Record(0, 0, None, b"kept")]), written_in)
        logs.note_machine_start()
        return logs

    yield logs_of_broker
    for logs in opened:
        logs.shutdown()


async def start(store: ClusterStore, logs: LogManager) -> LeaderAndIsr:
    """Return what stands of partition 0 after the broker's start."""
    await LogReconciliation(store, logs.broker_id, logs).run()
    state = await store.state(T_0)
    assert state is not None
    return state


async def test_a_state_older_than_the_log_gets_a_later_epoch_than_any_replica_has_written_in(store, logs_of):
    first = await start(store, logs_of(FIRST, 2))
    assert first.leader_epoch > 3
    assert (first.leader, first.isr, first.zk_version) == (FIRST, (FIRST, SECOND), 1)
    assert await start(store, logs_of(SECOND, 3)) == first, "the leader of that epoch has written in no other's"


async def test_the_replica_with_the_latest_epoch_may_start_first(store, logs_of):
    first = await start(store, logs_of(SECOND, 3))
    assert first.leader_epoch > 3
    assert await start(store, logs_of(FIRST, 2)) == first


async def test_a_leader_that_runs_already_is_announced_the_epoch(store, logs_of):
    """The first log has nothing newer than the backup; the controller sends the leader what it reads in the state."""
    assert (await start(store, logs_of(FIRST, 1))).leader_epoch == 1
    assert await store.isr_changes() == []
    state = await start(store, logs_of(SECOND, 3))
    assert (state.leader, state.leader_epoch > 3) == (FIRST, True)
    assert len(await store.isr_changes()) == 1


async def test_states_that_are_as_late_as_the_log_stay_as_they_are(store, logs_of):
    await start(store, logs_of(FIRST, 2))
    assert await store.state(T_1) == BACKUP.at_version(0)


async def test_an_epoch_that_leaves_no_room_is_reported_and_nothing_is_written(store, logs_of):
    logs = logs_of(FIRST, 2**31 - 2)
    with capture_logs() as lines:
        state = await start(store, logs)
    assert state == BACKUP.at_version(0)
    (line,) = (line for line in lines if line["log_level"] == "error")
    assert "leaves no room for a later one" in line["event"]


async def test_a_state_that_is_written_meanwhile_is_read_again(store, logs_of, monkeypatch):
    logs, states = logs_of(FIRST, 2), store.states

    async def outdated(partitions):
        before = await states(partitions)
        for partition in before:
            await store.write_isr(partition, before[partition].with_isr((FIRST,)))
        return before

    monkeypatch.setattr(store, "states", outdated)
    state = await start(store, logs)
    assert (state.isr, state.leader_epoch > 3) == ((FIRST,), True)
