"""A registration and the sessions it lives in; the store is played."""

import asyncio
from types import SimpleNamespace

import pytest

from broker.controller.cluster import BrokerEndpoint, BrokerRegistration
from broker.server.registration import Registration
from broker.zookeeper.session import SessionState
from tests.eventually import eventually


class Store:
    """Registers when told to, each time with a higher epoch."""

    def __init__(self):
        self.session = self
        self.listeners = []
        self.done: list[str] = []
        self.asked: asyncio.Queue[asyncio.Future] = asyncio.Queue()

    def on_state(self, listener) -> None:
        self.listeners.append(listener)

    def become(self, state: SessionState) -> None:
        for listener in self.listeners:
            listener(state)

    async def wait_connected(self) -> None:
        pass

    async def wait_unregistered(self, _broker_id) -> None:
        self.done.append("earlier registration gone")

    async def register_broker(self, _registration) -> int:
        self.done.append("registers")
        answer = asyncio.get_running_loop().create_future()
        self.asked.put_nowait(answer)
        return await answer

    async def next_asked(self) -> asyncio.Future:
        return await asyncio.wait_for(self.asked.get(), 10)


class LostLogs:
    def __init__(self, store, *, are_there: bool):
        self.are_there = are_there
        self._store = store

    async def leave_isrs(self) -> None:
        self._store.done.append("left the ISRs")


class Note:
    async def end_earlier(self, _servers) -> None:
        pass

    def write(self, _session) -> None:
        pass


@pytest.fixture
async def world(request):
    replicas = SimpleNamespace(broker_epoch=-1)
    store = Store()
    identity = BrokerRegistration(1, (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 1),), None)
    lost_logs = LostLogs(store, are_there=getattr(request, "param", False))
    registration = Registration(store, identity, replicas, Note(), lost_logs)
    starting = asyncio.create_task(registration.start())
    (await store.next_asked()).set_result(10)
    await starting
    yield SimpleNamespace(store=store, registration=registration, replicas=replicas)
    store.state = SessionState.LOST
    await registration.stop()


@pytest.mark.parametrize("world", [True], indirect=True)
async def test_trap_11_broker_that_may_lack_records_leaves_the_isrs_between_two_registrations(world):
    assert world.store.done == ["earlier registration gone", "left the ISRs", "registers"]
    world.store.become(SessionState.LOST)
    (await world.store.next_asked()).set_result(11)
    assert world.store.done[3:] == ["registers"], "nothing is lost with a session"


async def test_a_lost_session_is_followed_by_another_registration(world):
    assert world.registration.is_registered
    world.store.become(SessionState.LOST)
    assert not world.registration.is_registered
    (await world.store.next_asked()).set_result(11)
    await eventually(lambda: world.registration.is_registered, "registered again")
    assert world.replicas.broker_epoch == 11


async def test_a_session_lost_while_its_registration_is_answered_counts_as_lost(world):
    world.store.become(SessionState.LOST)
    asked = await world.store.next_asked()
    asked.set_result(11)
    world.store.become(SessionState.LOST)
    (await world.store.next_asked()).set_result(12)
    await eventually(lambda: world.registration.is_registered, "registered again")
    assert world.replicas.broker_epoch == 12
