"""Brokers as far as the controller is concerned, for tests on a real ZooKeeper."""

import asyncio

from broker.common.clock import SystemClock
from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.eventually import eventually
from tests.members import dialer
from tests.scripted_broker import ScriptedBroker


class Node:
    """One broker as far as the controller is concerned: a session, a registration, a socket, and its own controller."""

    def __init__(self, broker_id: int, connect: str, session_timeout_ms: int):
        self.broker_id = broker_id
        self._session = ZooKeeperSession(connect, session_timeout_ms)
        self.store = ClusterStore(self._session, SystemClock())
        self.broker = ScriptedBroker(broker_id)
        self.runtime = ControllerRuntime(self.store, broker_id, SystemClock(), dialer())

    async def start(self) -> "Node":
        await self.broker.__aenter__()
        await self._session.connect(10_000)
        await self.store.ensure_persistent_paths()
        await self.register()
        await self.runtime.start()
        return self

    async def register(self) -> None:
        endpoint = BrokerEndpoint("PLAINTEXT", "127.0.0.1", self.broker.port)
        await self.store.register_broker(BrokerRegistration(self.broker_id, (endpoint,)))

    async def stop(self) -> None:
        await self.runtime.stop()
        await self._session.close()
        await self.broker.__aexit__()


class Cluster:
    """Nodes in one directory of a real ZooKeeper; who starts first is controller, if the office is free."""

    def __init__(self, zookeeper, chroot: str):
        self._zookeeper = zookeeper
        self._chroot = chroot
        self.running: list[Node] = []

    @property
    def connect(self) -> str:
        return f"127.0.0.1:{self._zookeeper.port}{self._chroot}"

    async def start(self, broker_id: int, port: int | None = None, session_timeout_ms: int = 4_000) -> Node:
        connect = f"127.0.0.1:{port or self._zookeeper.port}{self._chroot}"
        node = Node(broker_id, connect, session_timeout_ms)
        is_first = not self.running
        self.running.append(node)
        await node.start()
        if is_first:
            await eventually(lambda: node.runtime.controller_id >= 0, "somebody is controller")
        return node

    async def stop(self, node: Node) -> None:
        self.running.remove(node)
        await node.stop()


async def until(read, wanted, what: str) -> None:
    """Waits until what `read` finds in ZooKeeper is `wanted`."""
    seen = [object()]

    async def look() -> None:
        while seen[0] != wanted:
            seen[0] = await read()

    task = asyncio.ensure_future(look())
    await eventually(lambda: task.done(), what)
    await task
