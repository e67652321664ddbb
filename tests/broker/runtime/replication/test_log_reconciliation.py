"""A broker's logs compared with ZooKeeper before it registers; ZooKeeper is a real one, and so are the logs."""

import asyncio
import errno
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from kazoo.security import make_acl
from structlog.testing import capture_logs

from broker.common.clock import SystemClock
from broker.common.cluster import NO_LOG, BrokerEndpoint, BrokerRegistration, LeaderAndIsr, LogLoss, TopicAssignment
from broker.common.errors import ApiError, StartupError
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.controller import topic_ids
from broker.controller.context import ControllerContext
from broker.controller.topic_ids import objections_to_new_id
from broker.log.checkpoints import PARTITION_METADATA, write_partition_metadata
from broker.log.config import LogConfig
from broker.log.directory import CLEAN_SHUTDOWN_FILE
from broker.log.directory_start import START_FILE
from broker.log.manager import LogManager
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication import stray_logs
from broker.runtime.replication.log_reconciliation import LogReconciliation
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.restored_directories import RestoredDirectories
from broker.runtime.replication.stray_logs import StrayLogs
from broker.runtime.serialized_changes import SerializedChanges
from broker.server.registration import Registration
from broker.zookeeper import znodes
from broker.zookeeper.controller_store import ControllerStore
from broker.zookeeper.earlier_session import SessionNote
from broker.zookeeper.election import try_become_controller
from broker.zookeeper.errors import QuotaExceeded
from broker.zookeeper.session import SessionState, ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.topic_ids import identify_topics, restore_topic_id
from tests.broker.log.old_messages import old_messages
from tests.eventually import eventually
from tests.manual_clock import ManualClock

ME, OTHER = 1, 2
FIRST, SECOND = UUID(int=1), UUID(int=2)
T_0, T_1, T_2 = (TopicPartition("t", index) for index in range(3))
REPLICAS = (ME, OTHER)


@pytest.fixture
async def store(zookeeper, tmp_path):
    session = ZooKeeperSession(f"127.0.0.1:{zookeeper.port}/reconciled-{tmp_path.name}", 4_000)
    await session.connect(10_000)
    cluster = ClusterStore(session, ManualClock())
    await cluster.ensure_persistent_paths()
    yield cluster
    await session.close()


@pytest.fixture
def start(tmp_path):
    """Loads the logs of the directories that are there, as the next start of the broker does."""
    started: list[LogManager] = []

    def start_logs(*names: str) -> LogManager:
        for before in started:
            before.shutdown()
        logs = LogManager([tmp_path / name for name in names or ("one", "other")], LogConfig(), ME, "cluster")
        logs.load_all()
        started.append(logs)
        return logs

    yield start_logs
    for logs in started:
        logs.shutdown()


def write(logs: LogManager, partition: TopicPartition, topic_id: UUID) -> None:
    logs.get_or_create(partition, topic_id).append(build_batch([Record(0, 0, None, b"kept")]), 0)


def log_without_noted_id(start, tmp_path) -> LogManager:
    """As a Kafka older than topic ids left it."""
    write(start(), T_0, FIRST)
    (noted,) = tmp_path.glob(f"*/t-0/{PARTITION_METADATA}")
    noted.unlink()
    return start()


async def topic(store: ClusterStore, topic_id: UUID, **isrs: tuple[int, ...]) -> None:
    """A topic whose partitions, as `p0=(1, 2)`, have states with these ISRs."""
    partitions = {int(name.removeprefix("p")): REPLICAS for name in isrs}
    assignment = TopicAssignment("t", topic_id, partitions)
    await store.session.create(znodes.topic_path("t"), znodes.encode_topic(assignment))
    await store.session.create(znodes.partitions_path("t"))
    for name, isr in isrs.items():
        partition = TopicPartition("t", int(name.removeprefix("p")))
        await store.session.create(znodes.partition_path(partition))
        state = LeaderAndIsr(isr[0], 3, isr, 1)
        await store.session.create(znodes.state_path(partition), znodes.encode_state(state))


async def isr_of(store: ClusterStore, partition: TopicPartition) -> tuple[int, tuple[int, ...]]:
    state = await store.state(partition)
    return state.leader, state.isr


def strays(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("*/*-stray"))


async def test_a_znode_without_an_id_gets_the_one_that_the_logs_note(store, start):
    write(logs := start(), T_0, FIRST)
    await topic(store, NO_TOPIC_ID, p0=(OTHER, ME))
    await LogReconciliation(store, ME, logs).run()
    assert (await store.topic("t")).topic_id == FIRST
    assert await isr_of(store, T_0) == (OTHER, (OTHER, ME)), "its log is whole"


async def test_a_log_that_could_not_be_opened_has_its_say(store, start, tmp_path):
    """It is of an old format, say: under a new id nothing would ever be read from it again."""
    write(logs := start("one"), T_0, FIRST)
    logs.shutdown()
    (log,) = (tmp_path / "one" / "t-0").glob("*.log")
    log.write_bytes(old_messages(3, magic=1))
    logs = start("one")
    assert logs.unopened.keys() == {T_0}
    await topic(store, NO_TOPIC_ID, p0=(ME,))
    await LogReconciliation(store, ME, logs).run()
    assert (await store.topic("t")).topic_id == FIRST
    assert strays(tmp_path) == []


async def test_a_broker_that_cannot_reach_its_log_in_sync_proves_nothing_of_the_topics_id(store, start):
    logs = start()
    write(logs, T_0, FIRST)
    home = logs.get(T_0).directory.parent
    logs.shutdown()
    await topic(store, NO_TOPIC_ID, p0=(ME,))
    home.rename(home.with_name("unplugged"))
    home.write_text("no directory")
    assert await LogReconciliation(store, ME, start()).run() == -1


async def test_a_broker_whose_id_zookeeper_has_no_room_for_proves_nothing_of_the_topics_id(store, start, monkeypatch):
    async def refuse(*_arguments):
        raise QuotaExceeded("/brokers")

    logs = start()
    write(logs, T_0, FIRST)
    await topic(store, NO_TOPIC_ID, p0=(ME,))
    monkeypatch.setattr("broker.zookeeper.topic_ids.require_fitting", refuse)
    assert await LogReconciliation(store, ME, logs).run() == -1
    monkeypatch.undo()
    assert await LogReconciliation(store, ME, logs).run() > 0


@pytest.mark.parametrize("isr", [(OTHER,), ()], ids=["not in sync", "without a state"])
async def test_a_log_whose_replica_had_no_part_in_the_last_state_has_no_say(store, start, isr, tmp_path):
    write(logs := start(), T_0, FIRST)
    if isr:
        await topic(store, NO_TOPIC_ID, p0=isr)
    else:
        await store.session.create(
            znodes.topic_path("t"), znodes.encode_topic(TopicAssignment("t", NO_TOPIC_ID, {0: REPLICAS}))
        )
    await LogReconciliation(store, ME, logs).run()
    assert not (await store.topic("t")).has_id
    assert (logs.topic_id_of(T_0), strays(tmp_path)) == (FIRST, []), "an unknown id is no other id"


async def test_a_replica_in_sync_has_its_say_though_the_znode_names_others(store, start, tmp_path):
    """A tool wrote back what it had read before the partition was moved here."""
    write(logs := start(), T_0, FIRST)
    await topic(store, NO_TOPIC_ID, p0=(ME,))
    others = znodes.encode_topic(TopicAssignment("t", NO_TOPIC_ID, {0: (OTHER,)}))
    await store.session.set(znodes.topic_path("t"), others)
    await LogReconciliation(store, ME, logs).run()
    assert (await store.topic("t")).topic_id == FIRST
    assert strays(tmp_path) == []


async def test_where_the_only_replica_in_sync_lost_its_log_the_id_waits_and_another_replica_keeps_its_log(
    store, start, tmp_path
):
    """A new id would make a stray of the only log there is. The replica that lost its own does not lead before it is
    certain that there is none.
    """
    await topic(store, NO_TOPIC_ID, p0=(OTHER,))
    writes = ControllerStore(store, await try_become_controller(store.session, OTHER, 5))
    await LogReconciliation(store, OTHER, start("lost")).run()
    identified = await identify_topics(store, writes, {"t": None}, {OTHER: 2**62}, objections_to_new_id, {})
    assert identified.unknown == {"t"}
    write(logs := start("one"), T_0, FIRST)
    await LogReconciliation(store, ME, logs).run()
    await restore_topic_id(store, "t", FIRST)  # as an operator does who reads its partition.metadata
    await LogReconciliation(store, ME, logs).run()
    assert (strays(tmp_path), logs.get(T_0).log_end_offset) == ([], 1)
    assert (await isr_of(store, T_0))[1] == (OTHER,)


async def test_a_broker_whose_last_log_directory_fails_during_its_start_does_not_register(store, start):
    """It would be given partitions that it cannot lead, and leave again."""
    await topic(store, FIRST, p0=(OTHER, ME))
    logs = start()
    one, other = logs._directories
    logs._fail(one, OSError(errno.EIO, "Input/output error"))
    await LogReconciliation(store, ME, logs).run()
    logs._fail(other, OSError(errno.EIO, "Input/output error"))
    with pytest.raises(StartupError, match="every log directory is offline"):
        await registration_of(store, logs, LogReconciliation(store, ME, logs)).start()
    assert await store.registered_epoch(ME) is None


@pytest.mark.parametrize("refusal", ["access list", "others"])
async def test_a_topic_whose_id_zookeeper_refuses_keeps_no_broker_from_its_start(store, start, monkeypatch, refusal):
    logs, u_0 = start(), TopicPartition("u", 0)
    write(logs, T_0, FIRST)
    write(logs, u_0, SECOND)
    await topic(store, NO_TOPIC_ID, p0=(ME,))
    await store.create_topic("u", {0: (ME,)}, {}, NO_TOPIC_ID)
    await store.session.create(znodes.partitions_path("u"))
    await store.session.create(znodes.partition_path(u_0))
    await store.session.create(znodes.state_path(u_0), znodes.encode_state(LeaderAndIsr(ME, 3, (ME,), 1)))
    if refusal == "access list":
        read_only = [make_acl("world", "anyone", read=True)]
        store.session._client.set_acls_async(znodes.topic_path("t"), read_only).get(timeout=10)
    else:
        meddled_with(store, "t", monkeypatch)
    with capture_logs() as lines:
        assert await LogReconciliation(store, ME, logs).run() == -1
    assert [(await store.topic(name)).topic_id for name in "tu"] == [NO_TOPIC_ID, SECOND]
    assert [line["topic"] for line in lines if line["log_level"] == "error"] == ["t"]


def meddled_with(store: ClusterStore, name: str, monkeypatch) -> None:
    """Have others change the topic's znode after each look at it."""
    look = store.session.get

    async def look_and_meddle(path: str, *arguments):
        znode = await look(path, *arguments)
        if path == znodes.topic_path(name):
            await store.session.set(path, znode.data)
        return znode

    monkeypatch.setattr(store.session, "get", look_and_meddle)


class LosesTheId(LogReconciliation):
    """A tool writes the topic's znode anew just after the broker has read it, and before the broker registers."""

    def __init__(self, store: ClusterStore, logs: LogManager):
        super().__init__(store, ME, logs)
        self.lost_in = store

    async def run(self):
        outcome = await super().run()
        await without_id(self.lost_in)
        return outcome


async def without_id(store: ClusterStore) -> None:
    data = znodes.encode_topic(TopicAssignment("t", NO_TOPIC_ID, {0: REPLICAS}))
    await store.session.set(znodes.topic_path("t"), data)


async def unknown_to_a_new_controller(store: ClusterStore) -> set[str]:
    """The topics that stay without an id when a controller that knows none has looked at `t`."""
    context = ControllerContext(controller_epoch=1)
    context.brokers = {ME: await store.broker(ME)}
    writes = ControllerStore(store, await try_become_controller(store.session, ME, 5))
    (effect,) = topic_ids.identify_topics(context, ["t"])
    identified = await identify_topics(
        store, writes, effect.known_ids, effect.ids_restored_at, objections_to_new_id, effect.names
    )
    return identified.unknown


def registration_of(store: ClusterStore, logs: LogManager, reconciliation: LogReconciliation) -> Registration:
    replicas = SimpleNamespace(broker_epoch=-1, taking_roles=SerializedChanges())
    note = SessionNote(lambda: logs.online_directories)
    own = BrokerRegistration(ME, (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 9092),))
    return Registration(store, lambda: own, replicas, note, reconciliation)


async def test_an_id_lost_between_the_look_of_a_starting_broker_and_its_registration_is_no_new_one(
    store, start, tmp_path
):
    """A new id would make strays of all logs of the topic: seed 2001534 lost `__transaction_state` so."""
    write(logs := start(), T_0, FIRST)
    await topic(store, FIRST, p0=(ME, OTHER))
    await registration_of(store, logs, LosesTheId(store, logs)).start()
    assert await unknown_to_a_new_controller(store) == {"t"}
    await LogReconciliation(store, ME, logs).run()
    assert (await store.topic("t")).topic_id == FIRST
    assert strays(tmp_path) == []


async def test_a_topic_of_which_no_log_notes_an_id_gets_one_when_its_brokers_have_started(store, start, tmp_path):
    logs = log_without_noted_id(start, tmp_path)
    await topic(store, NO_TOPIC_ID, p0=(ME,))
    await registration_of(store, logs, LogReconciliation(store, ME, logs)).start()
    assert await unknown_to_a_new_controller(store) == set()


async def test_a_broker_that_registers_again_writes_back_the_id_its_log_notes(store, start):
    """Its process outlived the session, and the id was lost while it had none."""
    write(logs := start(), T_0, FIRST)
    await topic(store, FIRST, p0=(ME, OTHER))
    await registered_again_after_the_id_was_lost(store, logs)
    assert await unknown_to_a_new_controller(store) == set()
    assert (await store.topic("t")).topic_id == FIRST


async def test_a_topic_of_which_no_log_notes_an_id_gets_one_when_its_living_broker_registers_again(
    store, start, tmp_path
):
    logs = log_without_noted_id(start, tmp_path)
    await topic(store, FIRST, p0=(ME,))
    await registered_again_after_the_id_was_lost(store, logs)
    assert await unknown_to_a_new_controller(store) == set()
    assert (await store.topic("t")).topic_id not in (FIRST, NO_TOPIC_ID)


async def test_an_id_lost_after_a_broker_has_registered_again_waits(store, start):
    write(logs := start(), T_0, FIRST)
    await topic(store, FIRST, p0=(ME, OTHER))
    await registered_again_after_the_id_was_lost(store, logs)
    await without_id(store)
    assert await unknown_to_a_new_controller(store) == {"t"}


async def registered_again_after_the_id_was_lost(store: ClusterStore, logs: LogManager) -> None:
    registration = registration_of(store, logs, LogReconciliation(store, ME, logs))
    await registration.start()
    await without_id(store)
    await store.unregister_broker(ME)
    registration._on_session(SessionState.LOST)
    await eventually(lambda: registration.is_registered, "registered again")


async def test_of_several_ids_the_one_of_most_logs_is_written_and_the_others_are_set_aside(store, start, tmp_path):
    logs = start()
    for partition, topic_id in ((T_0, SECOND), (T_1, FIRST), (T_2, FIRST)):
        write(logs, partition, topic_id)
    await topic(store, NO_TOPIC_ID, p0=(ME, OTHER), p1=(ME, OTHER), p2=(ME, OTHER))
    await LogReconciliation(store, ME, logs).run()
    assert (await store.topic("t")).topic_id == FIRST
    (aside,) = strays(tmp_path)
    assert aside.name.startswith("t-0.")
    assert b"kept" in (aside / f"{0:020d}.log").read_bytes()
    assert await isr_of(store, T_0) == (-1, (OTHER,)), "what it held of that partition is not here"
    assert await isr_of(store, T_1) == (ME, (ME, OTHER))


async def test_an_id_copied_from_another_topic_is_replaced_by_the_one_that_logs_note(store, start, tmp_path):
    logs = start()
    write(logs, T_0, FIRST)
    write(logs, TopicPartition("u", 0), SECOND)
    await topic(store, SECOND, p0=(ME, OTHER))
    await store.create_topic("u", {0: REPLICAS}, {}, SECOND)
    await LogReconciliation(store, ME, logs).run()
    assert [(await store.topic(name)).topic_id for name in "tu"] == [FIRST, SECOND]
    assert strays(tmp_path) == []


async def test_a_running_broker_says_the_id_of_a_topic_once_in_each_controllers_term(store, start):
    """The znode lost its id between two controllers, and the second had been told of no topic before."""
    write(logs := start(), T_0, FIRST)
    await topic(store, FIRST, p0=(OTHER, ME))
    replicas = ReplicaManager(ME, logs, DelayedFetches(SystemClock()), SystemClock())
    strays = StrayLogs(ME, replicas, logs, store)
    without_id = znodes.encode_topic(TopicAssignment("t", NO_TOPIC_ID, {0: REPLICAS}))
    ids = []
    for controller_epoch in (4, 4, 5):
        await store.session.set(znodes.topic_path("t"), without_id)
        replicas.controller_epoch = controller_epoch
        await strays.restore_ids()
        ids.append((await store.topic("t")).topic_id)
    assert ids == [FIRST, NO_TOPIC_ID, FIRST]


async def test_an_id_that_a_new_controller_does_not_know_does_not_wait_for_the_look_at_stray_logs(
    store, start, monkeypatch
):
    monkeypatch.setattr(stray_logs, "_RESTORE_IDS_EVERY_S", 0)
    write(logs := start(), T_0, FIRST)
    await topic(store, FIRST, p0=(OTHER, ME))
    replicas = ReplicaManager(ME, logs, DelayedFetches(SystemClock()), SystemClock())
    replicas.controller_epoch = 4
    without_id = znodes.encode_topic(TopicAssignment("t", NO_TOPIC_ID, {0: REPLICAS}))
    await store.session.set(znodes.topic_path("t"), without_id)
    strays = StrayLogs(ME, replicas, logs, store)
    strays.start()

    try:
        async with asyncio.timeout(10):
            while (await store.topic("t")).topic_id != FIRST:
                await asyncio.sleep(0.01)
    finally:
        await strays.stop()


async def test_a_log_restored_from_a_backup_of_an_earlier_topic_is_set_aside(store, start, tmp_path):
    write(logs := start(), T_0, FIRST)
    await topic(store, SECOND, p0=(ME, OTHER))
    await LogReconciliation(store, ME, logs).run()
    assert (logs.get(T_0), len(strays(tmp_path))) == (None, 1)
    assert await isr_of(store, T_0) == (-1, (OTHER,))
    assert start().strays == frozenset(strays(tmp_path)), "the next start finds it there"


async def test_a_log_from_before_topic_ids_is_whole(store, start, tmp_path):
    logs = log_without_noted_id(start, tmp_path)
    await topic(store, SECOND, p0=(ME, OTHER))
    await LogReconciliation(store, ME, logs).run()
    assert await isr_of(store, T_0) == (ME, (ME, OTHER))


@pytest.mark.parametrize("loss", ["a directory is removed", "a disk is out of the configuration", "a disk is new"])
async def test_trap_11_a_replica_that_lost_some_of_its_logs_asks_before_it_leads_those(store, start, tmp_path, loss):
    logs = start()
    logs.note_machine_start()
    for partition in (T_0, T_1):
        write(logs, partition, FIRST)
    logs.shutdown()
    home = next(tmp_path.glob("*/t-0")).parent
    left = [name for name in ("one", "other") if name != home.name]
    if loss == "a directory is removed":
        shutil.rmtree(home / "t-0")
    else:
        shutil.rmtree(home)
    await topic(store, FIRST, p0=(ME, OTHER), p1=(OTHER, ME))
    await LogReconciliation(store, ME, start(*(left if "configuration" in loss else ()))).run()
    assert await isr_of(store, T_0) == (-1, (OTHER,))
    assert await isr_of(store, T_1) == (OTHER, (OTHER, ME))


async def test_brokers_that_died_before_their_first_role_lead_when_all_have_said_so(store, start):
    """Each counts the log that it never made as lost; the last of them leads in a later epoch."""
    await topic(store, FIRST, p0=(ME, OTHER))
    await LogReconciliation(store, ME, start()).run()
    assert await isr_of(store, T_0) == (-1, (OTHER,))
    await LogReconciliation(store, OTHER, start()).run()
    assert await isr_of(store, T_0) == (-1, (OTHER,)), "the last of the ISR may lead"


async def test_a_log_without_a_segment_stays_and_is_noted_as_far_as_it_reaches(store, start, tmp_path):
    """The other member of the ISR may come back without its log; then this one is chosen to lead."""
    logs = start("one")
    log = logs.get_or_create(T_0, FIRST)
    log.config = LogConfig(segment_bytes=200)
    while len(log.segments) < 4:
        log.append(build_batch([Record(0, 0, None, b"kept" * 20)]), 0)
    logs.shutdown()
    log.segments[1].files.log.unlink()
    await topic(store, FIRST, p0=(ME, OTHER))
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert logs.lost_offsets.keys() == {T_0}
    assert (logs.get(T_0).log_end_offset, strays(tmp_path)) == (4, [])
    state = await store.state(T_0)
    assert (state.isr, state.log_losses) == ((OTHER,), (LogLoss(ME, 0, 4),))


@pytest.mark.parametrize("stop", ["clean", "killed"])
async def test_a_log_directory_from_a_backup_leads_nothing_that_another_replica_may_have_more_of(
    store, start, tmp_path, stop
):
    """Its checkpoints agree with its logs, and the stop before the backup was clean."""
    await restore_backup(store, start, tmp_path, p0=(ME, OTHER), p1=(ME,), p2=(OTHER,))
    if stop == "killed":
        (tmp_path / "one" / CLEAN_SHUTDOWN_FILE).unlink()
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert await isr_of(store, T_0) == (-1, (OTHER,))
    assert await isr_of(store, T_1) == (-1, (ME,))
    assert await isr_of(store, T_2) == (OTHER, (OTHER,))
    assert logs.withheld == {T_1}
    (stray,) = strays(tmp_path)
    logs.shutdown()
    stray.rename(stray.with_name("t-1"))
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert (logs.get(T_1).log_end_offset, logs.withheld) == (1, set()), "an operator wants it to lead with that"


async def test_a_broker_leads_nothing_anew_while_records_of_the_partition_lie_aside(store, start, tmp_path):
    """The other replica was restored without its log afterwards; what the backup had is all there is."""
    await restore_backup(store, start, tmp_path, p1=(ME,))
    await LogReconciliation(store, ME, start("one")).run()
    await LogReconciliation(store, OTHER, start("lost")).run()
    for _ in range(2):
        await LogReconciliation(store, ME, logs := start("one")).run()
        assert (logs.withheld, len(strays(tmp_path))) == ({T_1}, 1)
        with pytest.raises(ApiError, match=r"set aside.*-stray"):
            logs.get_or_create(T_1, FIRST, is_new=False)
    assert (await store.state(T_1)).log_losses == (LogLoss(ME, -1, 0), LogLoss(OTHER, -1, NO_LOG))
    await LogReconciliation(store, OTHER, logs := start("lost")).run()
    assert await isr_of(store, T_1) == (-1, (ME,)), "nor does the other one"
    logs.shutdown()
    (stray,) = strays(tmp_path)
    stray.rename(stray.with_name("t-1"))
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert (logs.get(T_1).log_end_offset, logs.withheld) == (1, set())


@pytest.mark.parametrize("aside", ["of another topic", "without records", "removed"])
async def test_a_stray_that_holds_no_record_of_the_topic_keeps_no_partition_offline(store, start, tmp_path, aside):
    await restore_backup(store, start, tmp_path, p1=(ME,))
    await LogReconciliation(store, ME, logs := start("one")).run()
    await LogReconciliation(store, OTHER, start("lost")).run()
    logs.shutdown()
    (stray,) = strays(tmp_path)
    if aside == "of another topic":
        write_partition_metadata(stray / PARTITION_METADATA, SECOND)
    elif aside == "without records":
        next(stray.glob("*.log")).write_bytes(b"")
    else:
        shutil.rmtree(stray)
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert logs.withheld == set()


async def test_a_reported_loss_is_corrected_when_the_log_is_back(store, start, tmp_path):
    """Else the last of the ISR would lead empty, and this replica would truncate its log for it."""
    write(logs := start("one"), T_0, FIRST)
    logs.shutdown()
    await topic(store, FIRST, p0=(OTHER,))
    await LogReconciliation(store, ME, start("empty")).run()
    await store.write_isr(T_0, replace(await store.state(T_0), leader=-1, log_losses=(LogLoss(ME, -1, NO_LOG),)))
    await LogReconciliation(store, ME, start("one")).run()
    assert (await store.state(T_0)).log_losses == (LogLoss(ME, 0, 1),)
    await LogReconciliation(store, OTHER, logs := start("lost")).run()
    assert await isr_of(store, T_0) == (-1, (ME,)), "the log that is back leads"


async def test_a_log_directory_from_a_backup_leads_what_no_other_replica_has(store, start, tmp_path):
    await restore_backup(store, start, tmp_path, p0=(ME,), p1=(ME,))
    await store.write_isr(T_0, replace(await store.state(T_0), log_losses=(LogLoss(OTHER, -1, 0),)))
    alone = TopicAssignment("t", FIRST, {0: REPLICAS, 1: (ME,)})
    await store.session.set(znodes.topic_path("t"), znodes.encode_topic(alone))
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert (logs.restored, logs.withheld, strays(tmp_path)) == ({T_0, T_1}, set(), [])
    assert await isr_of(store, T_0) == await isr_of(store, T_1) == (-1, (ME,))


async def test_a_log_from_a_backup_leads_where_the_other_member_of_the_isr_lost_more(store, start, tmp_path):
    """A third replica was not asked; the one that would lead instead has less."""
    await restore_backup(store, start, tmp_path, p0=(ME,))
    three = TopicAssignment("t", FIRST, {0: (*REPLICAS, 9)})
    await store.session.set(znodes.topic_path("t"), znodes.encode_topic(three))
    await store.write_isr(T_0, replace(await store.state(T_0), log_losses=(LogLoss(OTHER, -1, 1),)))
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert (logs.restored, logs.withheld, strays(tmp_path)) == ({T_0}, set(), [])
    assert await isr_of(store, T_0) == (-1, (ME,))


async def test_a_directory_from_a_backup_is_doubted_until_all_its_logs_were_opened(store, start, tmp_path):
    await restore_backup(store, start, tmp_path, p0=(OTHER,))
    log = next((tmp_path / "one" / "t-0").glob("*.log"))
    whole, noted = log.read_bytes(), (tmp_path / "one" / START_FILE).read_text()
    log.write_bytes(old_messages(2, 1))
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert (logs.get(T_0), (tmp_path / "one" / START_FILE).read_text()) == (None, noted)
    logs.shutdown()
    log.write_bytes(whole)
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert logs.restored == {T_0}


@pytest.mark.parametrize("lies_in", ["one", "other"])
async def test_a_log_directory_that_was_away_or_comes_from_another_disk_is_no_backup(store, start, tmp_path, lies_in):
    write(logs := start("one"), T_0, FIRST)
    await LogReconciliation(store, ME, logs).run()
    for _ in range(2):
        await LogReconciliation(store, ME, start("third")).run()
    (tmp_path / "one").rename(tmp_path / lies_in)
    await topic(store, FIRST, p0=(ME,))
    await LogReconciliation(store, ME, logs := start(lies_in, "third")).run()
    assert (logs.restored, strays(tmp_path)) == (set(), [])
    assert await isr_of(store, T_0) == (ME, (ME,))


async def test_a_backup_from_before_starts_were_noted_is_doubted(store, start, tmp_path):
    await restore_backup(store, start, tmp_path, p0=(ME, OTHER), p1=(ME,))
    (tmp_path / "one" / START_FILE).unlink()
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert await isr_of(store, T_0) == (-1, (OTHER,))
    assert (logs.withheld, len(strays(tmp_path))) == ({T_1}, 1)
    await LogReconciliation(store, ME, logs := start("one")).run()
    assert logs.restored == set(), "the next start doubts nothing"


@pytest.mark.parametrize("case", ["upgrade", "away during the upgrade", "new disk"])
async def test_a_directory_that_notes_no_start_is_no_backup_if_none_that_was_served_is_missing(
    store, start, tmp_path, case
):
    write(logs := start("one"), T_0, FIRST)
    if case == "away during the upgrade":
        await LogReconciliation(store, ME, start("other")).run()
        logs = start("one", "other")
    elif case == "new disk":
        await LogReconciliation(store, ME, logs).run()
        logs.shutdown()
        shutil.rmtree(tmp_path / "one")
        logs = start("one")
    await topic(store, FIRST, p0=(ME,))
    await LogReconciliation(store, ME, logs).run()
    assert (logs.restored, logs._restored_directories, strays(tmp_path)) == (set(), set(), [])


async def test_a_start_that_ends_before_its_doubts_are_dealt_with_leaves_them_to_the_next(store, start, tmp_path):
    await restore_backup(store, start, tmp_path, p0=(ME, OTHER))
    await RestoredDirectories(store, ME, start("one")).doubt()
    await LogReconciliation(store, ME, start("one")).run()
    assert await isr_of(store, T_0) == (-1, (OTHER,))
    state = await store.state(T_0)
    await store.write_isr(T_0, replace(state, leader=ME, isr=(ME, OTHER)))
    await LogReconciliation(store, ME, start("one")).run()
    assert await isr_of(store, T_0) == (ME, (ME, OTHER)), "it has followed since"


async def restore_backup(store: ClusterStore, start, tmp_path: Path, **isrs: tuple[int, ...]) -> None:
    """Bring log directory "one" back as it was when each log had one record; at a later start each got another."""
    for _ in range(2):
        logs = start("one")
        for name in isrs:
            write(logs, TopicPartition("t", int(name.removeprefix("p"))), FIRST)
        await LogReconciliation(store, ME, logs).run()
        logs.checkpoint_recovery_points()
        logs.shutdown()
        if not (tmp_path / "backup").exists():
            shutil.copytree(tmp_path / "one", tmp_path / "backup")
    shutil.rmtree(tmp_path / "one")
    (tmp_path / "backup").rename(tmp_path / "one")
    await topic(store, FIRST, **isrs)
