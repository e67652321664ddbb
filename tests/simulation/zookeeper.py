"""`ZooKeeperSession` over the simulated network instead of kazoo: the same methods, states and errors.

As kazoo does: a connection without a sign of life for two thirds of the timeout is given up; then what was under way
fails with ConnectionInterrupted (it may have been done), all watches fire, and the session is suspended until it is
taken up again or found expired. What is asked meanwhile waits for the next connection. Results and watch events come
over two queues of their own, so that one may overtake the other.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any

from broker.common.errors import StartupError
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost, ZooKeeperError
from broker.zookeeper.session import (
    ANY_VERSION,
    Delete,
    Operation,
    SessionState,
    SetData,
    Watcher,
    Znode,
    ZnodeCreation,
    ZooKeeperSession,
)
from tests.simulation.ensemble import MACHINE, Ensemble, ServerSession
from tests.simulation.network import Lane
from tests.simulation.sockets import Machine

_HAND_OVER_US_MAX = 500
_RECONNECT_S = (0.05, 0.4)

#: (what to do at the server, the future of its outcome)
_Request = tuple[Callable[[ServerSession], Any], asyncio.Future]


class _Connection:
    """Two lanes, and the requests that were sent over them and not answered."""

    def __init__(self, machine: Machine):
        self.to_server = Lane(machine.network, machine.name, MACHINE)
        self.to_client = Lane(machine.network, MACHINE, machine.name)
        self.pending: list[_Request] = []
        self.heard = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.is_open = True


class SimulatedSession:
    """One session of a broker's process, as `broker.zookeeper.session.ZooKeeperSession`."""

    servers = MACHINE

    def __init__(self, ensemble: Ensemble, machine: Machine, session_timeout_ms: int):
        self._ensemble = ensemble
        self._machine = machine
        self.session_timeout_ms = session_timeout_ms
        self.state = SessionState.LOST
        self._identity: tuple[int, bytes] | None = None
        self._listeners: list[Callable[[SessionState], None]] = []
        self._watchers: dict[int, Watcher] = {}
        self._watch_numbers = itertools.count()
        self._connection: _Connection | None = None
        self._queue: list[_Request] = []
        self._life: asyncio.Task | None = None
        self._is_closed = False

    # -- life

    async def connect(self, timeout_ms: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._connected = asyncio.Event()
        self._handed_over_us = {"result": 0, "watch": 0}
        self._life = self._loop.create_task(self._live())
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._connected.wait()
        except TimeoutError as error:
            await self.close()
            raise StartupError(f"ZooKeeper did not answer within {timeout_ms} ms") from error

    async def close(self) -> None:
        self._is_closed = True
        self._listeners.clear()
        if self._life:
            self._life.cancel()
        connection, identity = self._connection, self._identity
        if connection is not None and identity is not None:
            connection.to_server.send(lambda: self._end_at_server(identity))
        self._break(SessionLost)

    def _end_at_server(self, identity: tuple[int, bytes]) -> None:
        session = self._ensemble.find(*identity)
        if session is not None:
            self._ensemble.end(session, "closed")

    @property
    def identity(self) -> tuple[int, bytes]:
        return self._identity

    @property
    def session_id(self) -> int:
        return self._identity[0] if self._identity and self.state is SessionState.CONNECTED else 0

    def on_state(self, listener: Callable[[SessionState], None]) -> None:
        self._listeners.append(listener)

    async def wait_connected(self) -> None:
        await self._connected.wait()

    async def end_other(self, identity: tuple[int, bytes]) -> bool:
        ended = self._loop.create_future()
        connection = _Connection(self._machine)

        def end() -> None:
            self._end_at_server(identity)
            connection.to_client.send(lambda: ended.done() or ended.set_result(True))

        connection.to_server.send(end)
        try:
            async with asyncio.timeout(5):
                return await ended
        except TimeoutError:
            return False

    # -- the connection

    async def _live(self) -> None:
        while True:
            connection = _Connection(self._machine)
            is_resumed = await self._dial(connection)
            if is_resumed is None:
                await asyncio.sleep(self._machine.random.uniform(*_RECONNECT_S))
                continue
            if not is_resumed:
                self._identity = None
                self._change_state(SessionState.LOST)
                self._break(SessionLost)
                continue
            self._connection = connection
            self._change_state(SessionState.CONNECTED)
            queue, self._queue = self._queue, []
            for request in queue:
                self._send(request)
            await self._stay(connection)
            self._break(ConnectionInterrupted)
            self._change_state(SessionState.SUSPENDED)

    async def _dial(self, connection: _Connection) -> bool | None:
        """True: there is a session; False: ours has expired; None: no answer."""
        answer = self._loop.create_future()

        def at_server() -> None:
            if not connection.is_open:
                return
            if self._identity is None:
                session = self._ensemble.open(self.session_timeout_ms)
            else:
                session = self._ensemble.find(*self._identity)
            if session is not None:
                session.connection = connection
                session.watches.clear()
                session.fire = lambda number: connection.to_client.send(lambda: self._on_watch(connection, number))
                session.hang_up = lambda: connection.to_client.send(lambda: self._on_hang_up(connection))
                self._ensemble.hear(session)
            connection.to_client.send(lambda: answer.done() or answer.set_result(session))

        connection.to_server.send(at_server)
        try:
            async with asyncio.timeout(self.session_timeout_ms / 3000):
                session = await answer
        except TimeoutError:
            connection.is_open = False
            return None
        if session is not None:
            self._identity = (session.session_id, session.password)
        return session is not None

    async def _stay(self, connection: _Connection) -> None:
        """Until nothing is heard for two thirds of the timeout, or the server has hung up."""
        pause_s = self.session_timeout_ms / 3000
        while connection.is_open:
            connection.heard.clear()
            self._ping(connection)
            try:
                async with asyncio.timeout(pause_s):
                    await connection.heard.wait()
            except TimeoutError:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await connection.hung_up.wait()

    def _ping(self, connection: _Connection) -> None:
        def at_server() -> None:
            session = self._at_server(connection)
            connection.to_client.send(connection.heard.set if session else lambda: self._on_hang_up(connection))

        connection.to_server.send(at_server)

    def _on_hang_up(self, connection: _Connection) -> None:
        """The server knows the session no more, or another connection has it."""
        connection.is_open = False
        connection.heard.set()
        connection.hung_up.set()

    def _at_server(self, connection: _Connection) -> ServerSession | None:
        """The session if this connection still speaks for it."""
        session = self._ensemble.find(*self._identity) if self._identity else None
        if session is None or session.connection is not connection:
            return None
        self._ensemble.hear(session)
        return session

    def _break(self, error: type[ZooKeeperError]) -> None:
        connection, self._connection = self._connection, None
        requests, self._queue = self._queue, []
        if connection is not None:
            connection.is_open = False
            requests = connection.pending + requests
        for _, future in requests:
            if not future.done():
                future.set_exception(error(""))
        watchers, self._watchers = self._watchers, {}
        for watcher in watchers.values():
            self._hand_over("watch", watcher)

    def _change_state(self, state: SessionState) -> None:
        self.state = state
        if state is SessionState.CONNECTED:
            self._connected.set()
        else:
            self._connected.clear()
        for listener in list(self._listeners):
            listener(state)

    # -- requests

    async def _ask(self, path: str, ask: Callable[[ServerSession], Any]) -> Any:
        if self._is_closed:
            raise SessionLost(path, "the session is closed")
        request = (ask, self._loop.create_future())
        if self._connection is None:
            self._queue.append(request)
        else:
            self._send(request)
        try:
            return await request[1]
        except ZooKeeperError as error:
            if error.path:
                raise
            raise type(error)(path, "the connection to ZooKeeper broke") from None

    def _send(self, request: _Request) -> None:
        connection = self._connection
        connection.pending.append(request)

        def at_server() -> None:
            session = self._at_server(connection)
            if session is None:
                connection.to_client.send(lambda: self._on_hang_up(connection))
                return
            try:
                outcome = request[0](session)
            except ZooKeeperError as error:
                outcome = error
            connection.to_client.send(lambda: self._on_answer(connection, request, outcome))

        connection.to_server.send(at_server)

    def _on_answer(self, connection: _Connection, request: _Request, outcome: Any) -> None:
        if not connection.is_open:
            return
        connection.pending.remove(request)
        self._hand_over("result", _settle, request[1], outcome)

    def _on_watch(self, connection: _Connection, number: int) -> None:
        watcher = self._watchers.pop(number, None)
        if watcher is not None and connection.is_open:
            self._hand_over("watch", watcher)

    def _hand_over(self, queue: str, callback: Callable, *arguments: Any) -> None:
        """From a thread of the client library to the loop."""
        at_us = round(self._loop.time() * 1_000_000) + self._machine.random.randint(0, _HAND_OVER_US_MAX)
        self._handed_over_us[queue] = max(self._handed_over_us[queue], at_us)
        self._loop.call_at(self._handed_over_us[queue] / 1_000_000, callback, *arguments)

    def _number(self, watch: Watcher | None) -> int | None:
        if watch is None:
            return None
        number = next(self._watch_numbers)
        self._watchers[number] = watch
        return number

    async def get(self, path: str, watch: Watcher | None = None) -> Znode:
        number = self._number(watch)
        return await self._ask(path, lambda session: self._ensemble.get(session, path, number))

    async def exists(self, path: str, watch: Watcher | None = None) -> Znode | None:
        number = self._number(watch)
        return await self._ask(path, lambda session: self._ensemble.exists(session, path, number))

    async def children(self, path: str, watch: Watcher | None = None) -> list[str]:
        number = self._number(watch)
        return await self._ask(path, lambda session: self._ensemble.children(session, path, number))

    children_if_present = ZooKeeperSession.children_if_present

    async def create(self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequential: bool = False) -> str:
        create = ZnodeCreation(path, data, ephemeral)
        return await self._ask(path, lambda session: self._ensemble.create(session, create, sequential=sequential))

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        return (await self.multi([SetData(path, data, version)]))[0]

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        await self.multi([Delete(path, version)])

    async def sync(self, path: str) -> int:
        return await self._ask(path, lambda session: self._ensemble.tree.zxid)

    async def ensure(self, path: str) -> None:
        await self._ask(path, lambda session: self._ensemble.ensure(session, path))

    async def multi(self, operations: list[Operation]) -> list[Any]:
        return await self._ask(operations[0].path, lambda session: self._ensemble.multi(session, operations))


def _settle(future: asyncio.Future, outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, ZooKeeperError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
