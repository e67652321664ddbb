"""The stopping broker's side: whom it asks, how often, and when it does not bother."""

import asyncio
import itertools
from types import SimpleNamespace

import pytest

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.common.errors import ErrorCode
from broker.config.broker import read_broker_config
from broker.protocol.messages.controlled_shutdown import ControlledShutdownResponse, RemainingPartition
from broker.runtime.controlled_shutdown import ControlledShutdown
from broker.zookeeper.election import resign, try_become_controller
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.eventually import eventually
from tests.manual_clock import ManualClock
from tests.members import dialer
from tests.scripted_broker import ScriptedBroker

DONE = ControlledShutdownResponse()
ONE_REMAINS = ControlledShutdownResponse(remaining_partitions=[RemainingPartition(topic_name="t", partition_index=0)])
FILE = "broker.id=1\nzookeeper.connect=127.0.0.1:1\ncontrolled.shutdown.retry.backoff.ms={backoff}\n"
_chroots = itertools.count()


class Scene:
    """Broker 1, which wants to stop, and controllers whose answers are scripted."""

    def __init__(self, zookeeper):
        self._connect = f"127.0.0.1:{zookeeper.port}/shutdown-{next(_chroots)}"
        self._undo = []

    async def begin(self) -> "Scene":
        self.store = await self._open()
        await self.store.ensure_persistent_paths()
        return self

    async def end(self) -> None:
        for undo in reversed(self._undo):
            await undo()

    async def _open(self) -> ClusterStore:
        session = ZooKeeperSession(self._connect, 4_000)
        await session.connect(10_000)
        self._undo.append(session.close)
        return ClusterStore(session, ManualClock())

    async def controller(self, broker_id: int, *answers: ControlledShutdownResponse) -> tuple:
        """A broker that is controller now, and answers so; (what it was asked, its store)."""
        rest = iter(answers)
        broker = ScriptedBroker(broker_id, lambda _request: next(rest))
        await broker.__aenter__()
        self._undo.append(broker.__aexit__)
        store = await self._open()
        endpoint = BrokerEndpoint("PLAINTEXT", "127.0.0.1", broker.port)
        await store.register_broker(BrokerRegistration(broker_id, (endpoint,)))
        assert await try_become_controller(store.session, broker_id, 0)
        return broker.received, store

    async def hand_over(self, backoff_ms: int = 1, others: tuple = (2,), replicas: tuple = ("t-0",), extra: str = ""):
        class Replicas(tuple):
            broker_epoch = 77

        self.metadata = metadata = SimpleNamespace(brokers=dict.fromkeys((1, *others)))
        config = read_broker_config(FILE.format(backoff=backoff_ms) + extra)
        async with asyncio.timeout(30):
            await ControlledShutdown(self.store, metadata, Replicas(replicas), dialer(), config).hand_over()


@pytest.fixture
async def scene(zookeeper):
    scene = await Scene(zookeeper).begin()
    yield scene
    await scene.end()


async def test_controller_is_asked_once_when_nothing_remains(scene):
    requests, _ = await scene.controller(2, DONE)
    await scene.hand_over(backoff_ms=3_600_000)
    assert [(request.broker_id, request.broker_epoch) for request in requests] == [(1, 77)]


async def test_controller_is_asked_again_while_something_remains(scene):
    requests, _ = await scene.controller(2, ONE_REMAINS, DONE)
    await scene.hand_over()
    assert len(requests) == 2


async def test_broker_stops_all_the_same_when_it_has_asked_often_enough(scene):
    refused = ControlledShutdownResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    requests, _ = await scene.controller(2, ONE_REMAINS, refused, ONE_REMAINS)
    await scene.hand_over()
    assert len(requests) == 3


async def test_next_controller_is_asked_without_a_pause(scene):
    requests, store = await scene.controller(2, *[ControlledShutdownResponse(error_code=ErrorCode.NOT_CONTROLLER)] * 9)
    stopping = asyncio.ensure_future(scene.hand_over(3_600_000, extra="controlled.shutdown.max.retries=1\n"))
    await eventually(lambda: requests, "the first was asked")
    await resign(store.session)
    next_asked, _ = await scene.controller(3, DONE)
    await eventually(stopping.done, "stopped")
    await stopping
    assert len(next_asked) == 1


async def test_same_controller_is_asked_again_without_a_pause_when_a_broker_is_gone(scene):
    """It may be the stopping broker itself, whose last replica in need of help was on the broker that stopped too."""
    requests, _ = await scene.controller(2, ONE_REMAINS, DONE)
    stopping = asyncio.ensure_future(scene.hand_over(3_600_000, others=(2, 3)))
    await eventually(lambda: requests, "asked")
    del scene.metadata.brokers[3]
    await eventually(stopping.done, "stopped")
    await stopping
    assert len(requests) == 2


async def test_nobody_is_asked_when_nobody_could_take_over(scene):
    requests, _ = await scene.controller(2, DONE)
    await scene.hand_over(others=())
    await scene.hand_over(replicas=())
    await scene.hand_over(extra="controlled.shutdown.enable=false\n")
    assert requests == []


async def test_missing_controller_or_zookeeper_does_not_hold_a_broker_up(scene):
    await scene.hand_over()
    await scene.store.session.close()
    await scene.hand_over(backoff_ms=3_600_000)
