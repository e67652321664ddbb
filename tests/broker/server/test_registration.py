"""A registration and the sessions it lives in; the store is played."""

import asyncio
from types import SimpleNamespace

import pytest

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.runtime.serialized_changes import SerializedChanges
from broker.server import registration as server_registration
from broker.server.registration import Registration
from broker.zookeeper.earlier_session import NOTE_FILE, SessionNote
from broker.zookeeper.errors import OperationRefused, SessionLost
from broker.zookeeper.session import SessionState
from tests.eventually import eventually


class Store:
    """Registers when told to, each time with a higher epoch."""

    def __init__(self):
        self.session = self
        self.state = SessionState.CONNECTED
        self.identity = 7, b"secret"
        self.listeners = []
        self.done: list[str] = []
        self.restored_at: list[int] = []  #: what each registration said
        self.registrations: asyncio.Queue[asyncio.Future] = asyncio.Queue()

    def on_state(self, listener) -> None:
        self.listeners.append(listener)

    def become(self, state: SessionState) -> None:
        for listener in self.listeners:
            listener(state)

    async def wait_connected(self) -> None:
        pass

    async def wait_unregistered(self, _broker_id) -> None:
        self.done.append("earlier registration gone")

    async def register_broker(self, registration) -> int:
        self.done.append("registers")
        self.restored_at.append(registration.ids_restored_at)
        answer = asyncio.get_running_loop().create_future()
        self.registrations.put_nowait(answer)
        return await answer

    async def unregister_broker(self, _broker_id) -> None:
        self.done.append("unregisters")

    async def next_asked(self) -> asyncio.Future:
        return await asyncio.wait_for(self.registrations.get(), 10)


class Reconciliation:
    def __init__(self, store):
        self._store = store
        self.troubles: list[Exception] = []  #: what the next looks at topic ids raise

    async def run(self) -> int:
        self._store.done.append("logs compared")
        return 7

    async def restore_topic_ids(self) -> int:
        if self.troubles:
            raise self.troubles.pop()
        self._store.done.append("topic ids restored")
        return 8


class Note:
    async def end_earlier(self, _servers) -> None:
        pass

    def write(self, _session) -> None:
        pass


IDENTITY = BrokerRegistration(1, (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 1),), None)


@pytest.fixture
async def world():
    replicas = SimpleNamespace(broker_epoch=-1, taking_roles=SerializedChanges())
    store = Store()
    reconciliation = Reconciliation(store)
    registration = Registration(store, lambda: IDENTITY, replicas, Note(), reconciliation)
    starting = asyncio.create_task(registration.start())
    (await store.next_asked()).set_result(10)
    await starting
    yield SimpleNamespace(store=store, registration=registration, replicas=replicas, reconciliation=reconciliation)
    store.state = SessionState.LOST
    await registration.stop()


async def test_trap_11_a_broker_compares_its_logs_with_zookeeper_between_two_registrations(world):
    assert world.store.done == ["earlier registration gone", "logs compared", "registers"]
    world.store.become(SessionState.LOST)
    (await world.store.next_asked()).set_result(11)
    assert world.store.done[3:] == ["topic ids restored", "registers"], "no log is lost with a session"
    assert world.store.restored_at == [7, 8]


async def test_a_broker_that_takes_roles_registers_again_without_waiting_and_proves_nothing(world):
    """The disk that a log is made on may hang."""
    async with world.replicas.taking_roles:
        world.store.become(SessionState.LOST)
        (await world.store.next_asked()).set_result(11)
        await eventually(lambda: world.registration.is_registered, "registered again")
    assert world.store.restored_at == [7, -1]


@pytest.mark.parametrize(
    ("error", "restored_at"), [(OperationRefused("/brokers/topics/t", "not allowed"), -1), (SessionLost("/"), 8)]
)
async def test_an_id_that_cannot_be_restored_keeps_no_broker_away(world, monkeypatch, error, restored_at):
    """A session that goes meanwhile is waited for, and ids are restored in the next one."""
    monkeypatch.setattr(server_registration, "_TRY_AGAIN_S", 0)
    world.reconciliation.troubles.append(error)
    world.store.become(SessionState.LOST)
    (await world.store.next_asked()).set_result(11)
    await eventually(lambda: world.registration.is_registered, "registered again")
    assert world.store.restored_at == [7, restored_at]


async def test_no_role_is_taken_between_the_look_at_topic_ids_and_the_registration(world):
    world.store.become(SessionState.LOST)
    answer = await world.store.next_asked()
    assert world.replicas.taking_roles.locked()
    answer.set_result(11)
    await eventually(lambda: not world.replicas.taking_roles.locked(), "roles are taken again")
    assert world.replicas.broker_epoch == 11, "what was said to the earlier registration is refused"


async def test_a_lost_session_is_followed_by_another_registration(world):
    assert world.registration.is_registered
    world.store.become(SessionState.LOST)
    assert not world.registration.is_registered
    (await world.store.next_asked()).set_result(11)
    await eventually(lambda: world.registration.is_registered, "registered again")
    assert world.replicas.broker_epoch == 11


async def test_a_session_lost_while_its_registration_is_answered_counts_as_lost(world):
    world.store.become(SessionState.LOST)
    registering = await world.store.next_asked()
    registering.set_result(11)
    world.store.become(SessionState.LOST)
    (await world.store.next_asked()).set_result(12)
    await eventually(lambda: world.registration.is_registered, "registered again")
    assert world.replicas.broker_epoch == 12


@pytest.fixture
def logs(tmp_path):
    """Of two directories. The first has nothing in it but what the broker keeps for itself."""
    logs = LogManager([tmp_path / "a", tmp_path / "b"], LogConfig(), 1, "c1")
    logs.load_all()
    yield logs
    logs.shutdown()


def registration_beside(logs: LogManager, store: Store) -> Registration:
    note = SessionNote(lambda: logs.online_directories)
    replicas = SimpleNamespace(broker_epoch=-1, taking_roles=SerializedChanges())
    return Registration(store, lambda: IDENTITY, replicas, note, Reconciliation(store))


async def register(registration: Registration, store: Store) -> None:
    starting = asyncio.create_task(registration.start())
    (await store.next_asked()).set_result(10)
    await starting


def noted_in(tmp_path) -> list[str]:
    return [path.parent.name for path in sorted(tmp_path.glob("*/" + NOTE_FILE))]


async def test_broker_registers_without_its_first_log_directory(tmp_path):
    (tmp_path / "a").write_text("as when the disk is not mounted")
    logs = LogManager([tmp_path / "a", tmp_path / "b"], LogConfig(), 1, "c1")
    logs.load_all()
    store = Store()
    registration = registration_beside(logs, store)
    await register(registration, store)
    assert registration.is_registered
    assert noted_in(tmp_path) == ["b"]
    await registration.stop()
    assert noted_in(tmp_path) == []
    logs.shutdown()


@pytest.mark.parametrize("is_known", [True, False], ids=["known to have failed", "not known yet to have failed"])
async def test_broker_whose_first_log_directory_fails_registers_again(logs, tmp_path, is_known):
    store = Store()
    registration = registration_beside(logs, store)
    await register(registration, store)
    assert noted_in(tmp_path) == ["a"]
    if is_known:
        logs._fail(logs._directories[0], OSError(5, "Input/output error"))
    (tmp_path / "a").rename(tmp_path / "gone")
    (tmp_path / "a").touch()
    store.become(SessionState.LOST)
    (await store.next_asked()).set_result(11)
    await eventually(lambda: registration.is_registered, "registered again")
    assert noted_in(tmp_path) == ["b", "gone"]
    await registration.stop()


async def test_broker_none_of_whose_directories_takes_the_note_registers_all_the_same(logs, monkeypatch):
    def refusing(path, *_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("broker.zookeeper.earlier_session._write", refusing)
    store = Store()
    registration = registration_beside(logs, store)
    await register(registration, store)
    assert registration.is_registered


async def test_what_nobody_foresaw_keeps_a_broker_from_its_registration_only_for_a_while(world, monkeypatch):
    monkeypatch.setattr(server_registration, "_TRY_AGAIN_S", 0)
    world.store.become(SessionState.LOST)
    (await world.store.next_asked()).set_exception(RuntimeError("a defect"))
    (await world.store.next_asked()).set_result(11)
    await eventually(lambda: world.registration.is_registered, "registered again")
