"""The one ZooKeeper client of a process: coroutines on the outside, kazoo's threads on the inside.

kazoo completes requests, calls watches and reports connection states on threads of its own. All three reach the event
loop through `ZooKeeperSession._hand_over` and nowhere else; nothing outside this file needs to be thread-safe.

A watch is ZooKeeper's: it fires once, for any change of what was read, and also when the connection breaks, because
kazoo drops all watches then. Its meaning is only "look again".
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeVarTuple, Unpack

from kazoo import exceptions as kazoo_errors
from kazoo.client import KazooClient, KazooState
from kazoo.handlers.threading import KazooTimeoutError

from broker.common.errors import NotNowError, StartupError
from broker.net.tls.settings import TlsSettings
from broker.zookeeper.acls import OPEN, acl_of
from broker.zookeeper.digest_file import Digest
from broker.zookeeper.errors import NodeExists, NodeMissing, NotPermitted, UnreadableZnode, ZooKeeperError
from broker.zookeeper.kazoo_results import CONSEQUENCES, KazooResult, KazooStat, translated
from broker.zookeeper.tls import TlsHandler, tls_arguments

ANY_VERSION = -1
_END_OTHER_TIMEOUT_S = 5.0

_RECONNECT = {"max_tries": -1, "delay": 0.1, "backoff": 2, "max_jitter": 0.1, "max_delay": 2}


class SessionState(Enum):
    """Suspended is not lost: while suspended the session may live on, and with it every ephemeral znode."""

    CONNECTED = KazooState.CONNECTED
    SUSPENDED = KazooState.SUSPENDED
    LOST = KazooState.LOST


class Znode(NamedTuple):
    """Content and the facts ZooKeeper keeps about it; `ephemeral_owner` is 0 for a persistent znode."""

    data: bytes
    version: int
    czxid: int
    ephemeral_owner: int
    created_at_ms: int
    #: The transaction that wrote the content.
    mzxid: int = 0


class ZnodeFacts(NamedTuple):
    """All that ZooKeeper keeps about a znode besides its content, times in ms."""

    czxid: int
    ctime_ms: int
    mzxid: int
    mtime_ms: int
    pzxid: int
    children_version: int
    data_version: int
    acl_version: int
    ephemeral_owner: int
    data_length: int
    child_count: int


@dataclass(frozen=True)
class ZnodeCreation:
    path: str
    data: bytes = b""
    ephemeral: bool = False
    #: ZooKeeper appends ten digits to the path.
    sequential: bool = False


@dataclass(frozen=True)
class SetData:
    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True)
class Delete:
    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True)
class Check:
    """Fails the transaction unless the znode has this version."""

    path: str
    version: int


Operation = ZnodeCreation | SetData | Delete | Check
Watcher = Callable[[], None]
Arguments = TypeVarTuple("Arguments")


class ZooKeeperSession:
    """One session. Every coroutine raises the errors of `errors.py` and may be called from the event loop only."""

    def __init__(
        self,
        connect: str,
        session_timeout_ms: int,
        digest: Digest | None = None,
        *,
        sets_acls: bool = False,
        tls: TlsSettings | None = None,
    ):
        """`connect` is Kafka's `zookeeper.connect`: host:port,host:port…[/chroot]. StartupError if it is none.

        `digest` is who the session is. With `sets_acls` (which needs it) what it creates is protected by `acls.acl_of`.
        With `tls` every connection is within TLS.
        """
        self._tls = tls
        servers, slash, chroot = connect.partition("/")
        self._servers = servers
        self._chroot = slash + chroot.strip("/") if chroot.strip("/") else ""
        self.session_timeout_ms = session_timeout_ms
        try:
            self._client = KazooClient(
                hosts=servers,
                timeout=session_timeout_ms / 1000,
                connection_retry=_RECONNECT,
                randomize_hosts=True,
                auth_data=[("digest", str(digest))] if digest else None,
                **tls_arguments(tls),
            )
        except ValueError as error:
            raise StartupError(f"zookeeper.connect={connect} is not host:port,…[/chroot]: {error}.") from error
        self.sets_acls = sets_acls and digest is not None
        #: Set by `connect`, which also begins the threads that call `_hand_over`.
        self._loop: asyncio.AbstractEventLoop
        self._listeners: list[Callable[[SessionState], None]] = []
        self._connected = asyncio.Event()
        self.state = SessionState.LOST

    # -- life

    async def connect(self, timeout_ms: int) -> None:
        """Open the session and create the chroot. NotNowError when ZooKeeper does not answer in time, StartupError when
        it does not let this broker create the chroot.
        """
        self._loop = asyncio.get_running_loop()
        self._client.add_listener(lambda state: self._hand_over(self._on_state, SessionState(state)))
        self._client.start_async()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._connected.wait()
                if self._chroot:
                    await self.ensure(self._chroot)
        except NotPermitted as error:
            await self.close()
            raise StartupError(
                f"ZooKeeper at {self._servers} does not let this broker create {self._chroot} ({error}): create it "
                "with an access list that names the broker, or correct zookeeper.connect."
            ) from error
        except (TimeoutError, ZooKeeperError) as error:
            await self.close()
            handler = self._client.handler
            if isinstance(handler, TlsHandler) and handler.problem:
                raise NotNowError(f"ZooKeeper at {self._servers} is not reached: {handler.problem}.") from error
            raise NotNowError(
                f"ZooKeeper did not answer at {self._servers} within {timeout_ms} ms; "
                "start it or correct zookeeper.connect."
            ) from error
        self._client.chroot = self._chroot

    def set_servers(self, servers: str) -> None:
        """Set the servers (`host:port,…`) of the next connection; the present one stays."""
        self._servers = servers
        self._client.set_hosts(f"{servers}{self._client.chroot or ''}")

    async def close(self) -> None:
        """End the session; ZooKeeper removes its ephemeral znodes at once."""
        self._listeners.clear()
        await asyncio.to_thread(self._stop_client)

    def _stop_client(self) -> None:
        with contextlib.suppress(kazoo_errors.KazooException, OSError):
            self._client.stop()
        self._client.close()

    async def end_other(self, identity: tuple[int, bytes]) -> bool:
        """Close another session, whose client is dead; False if that could not be done now."""
        return await asyncio.to_thread(_close_session, self._servers, identity, self._tls)

    @property
    def identity(self) -> tuple[int, bytes]:
        """Id and password: with both, anybody may take the session over."""
        identity: tuple[int, bytes] = self._client.client_id
        return identity

    @property
    def session_id(self) -> int:
        """The `ephemeral_owner` of this session's znodes; 0 while there is no session."""
        identity = self._client.client_id
        return (identity[0] or 0) if identity else 0

    def on_state(self, listener: Callable[[SessionState], None]) -> None:
        """Call `listener` on the loop at every change of state from now on."""
        self._listeners.append(listener)

    async def wait_connected(self) -> None:
        await self._connected.wait()

    def _on_state(self, state: SessionState) -> None:
        self.state = state
        if state is SessionState.CONNECTED:
            self._connected.set()
        else:
            self._connected.clear()
        for listener in list(self._listeners):
            listener(state)

    # -- one znode

    async def get(self, path: str, watch: Watcher | None = None) -> Znode:
        """Raises UnreadableZnode besides the errors of every operation."""
        try:
            data, stat = await self._await(path, self._client.get_async(path, watch=self._watcher(watch)))
        except NotPermitted as error:
            raise UnreadableZnode(path) from error
        return _znode(data, stat)

    async def exists(self, path: str, watch: Watcher | None = None) -> Znode | None:
        """Return the znode's facts without its content (`data` is empty), or None. A watch also fires on creation."""
        stat: KazooStat | None = await self._await(path, self._client.exists_async(path, watch=self._watcher(watch)))
        return _znode(b"", stat) if stat else None

    async def facts(self, path: str) -> ZnodeFacts:
        """Raises NodeMissing."""
        stat: KazooStat | None = await self._await(path, self._client.exists_async(path))
        if stat is None:
            raise NodeMissing(path)
        return ZnodeFacts(
            stat.czxid,
            stat.ctime,
            stat.mzxid,
            stat.mtime,
            stat.pzxid,
            stat.cversion,
            stat.version,
            stat.aversion,
            stat.ephemeralOwner,
            stat.dataLength,
            stat.numChildren,
        )

    async def children(self, path: str, watch: Watcher | None = None) -> list[str]:
        """Return the children's names, sorted. The watch fires when a child is created or deleted, or the znode is."""
        return sorted(await self._await(path, self._client.get_children_async(path, watch=self._watcher(watch))))

    async def children_if_present(self, path: str) -> list[str]:
        """Return the children as `children`; none if the znode is missing."""
        try:
            return await self.children(path)
        except NodeMissing:
            return []

    async def create(
        self, path: str, data: bytes | None = b"", *, ephemeral: bool = False, sequential: bool = False
    ) -> str:
        """Return the path of the new znode (ZooKeeper appends ten digits to a sequential one). Its data may be none at
        all.
        """
        acl = self._acl_of(path)
        created: str = await self._await(
            path, self._client.create_async(path, data, acl=acl, ephemeral=ephemeral, sequence=sequential)
        )
        return created

    async def set(self, path: str, data: bytes, version: int = ANY_VERSION) -> int:
        """Return the version the znode now has."""
        stat: KazooStat = await self._await(path, self._client.set_async(path, data, version=version))
        return stat.version

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        await self._await(path, self._client.delete_async(path, version=version))

    async def sync(self, path: str) -> int:
        """Sync with the leader: reads from now on are no older than this moment, whichever server answers.

        Return the zxid of that moment: a transaction up to it is seen by every read that follows.
        """
        await self._await(path, self._client.sync_async(path))
        zxid: int = self._client.last_zxid
        return zxid

    async def ensure(self, path: str) -> None:
        """Create the znode and its ancestors where they are missing."""
        if await self.exists(path) is not None:
            return
        parent = path.rpartition("/")[0]
        if parent:
            await self.ensure(parent)
        with contextlib.suppress(NodeExists):
            await self.create(path)

    # -- who may

    async def show_as(self, scheme: str, credential: str) -> None:
        """Authenticate the session with a further identity: `digest`, `user:password`."""
        await self._await("", self._client.add_auth_async(scheme, credential))

    async def acls(self, path: str) -> tuple[Any, ...]:
        return tuple((await self._await(path, self._client.get_acls_async(path)))[0])

    async def protect(self, path: str) -> None:
        """Give a znode the access list it would have if this session created it now."""
        await self._await(path, self._client.set_acls_async(path, self._acl_of(path)))

    def _acl_of(self, path: str) -> tuple[Any, ...]:
        return acl_of(path) if self.sets_acls else OPEN

    # -- all or nothing

    async def multi(self, operations: list[Operation]) -> list[Any]:
        """Do all or none. One result per operation: the path created, the new version, or True.

        Raises the error of the first operation that was refused; its `path` tells which.
        """
        transaction = self._client.transaction()
        for operation in operations:
            _add_operation(transaction, operation, self._acl_of(operation.path))
        results = await self._await(operations[0].path, transaction.commit_async())
        for operation, result in zip(operations, results, strict=True):
            if isinstance(result, Exception) and not isinstance(result, CONSEQUENCES):
                raise translated(result, operation.path)
        return [getattr(result, "version", result) for result in results]

    # -- from kazoo's threads to the loop

    async def _await(self, path: str, result: KazooResult) -> Any:
        future: asyncio.Future[Any] = self._loop.create_future()
        result.rawlink(lambda done: self._hand_over(_settle, future, done, path))
        return await future

    def _watcher(self, watch: Watcher | None) -> Callable[[Any], None] | None:
        return None if watch is None else lambda _event: self._hand_over(watch)

    def _hand_over(self, callback: Callable[[Unpack[Arguments]], None], *arguments: *Arguments) -> None:
        """Call on the event loop, the only way from kazoo's threads; after the loop has ended nothing is called."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)


def _close_session(servers: str, identity: tuple[int, bytes], tls: TlsSettings | None) -> bool:
    """Connect with the former session's identity and close that session; an expired one is replaced by a new one, which
    is closed as well.
    """
    client = KazooClient(hosts=servers, client_id=identity, timeout=_END_OTHER_TIMEOUT_S, **tls_arguments(tls))
    try:
        client.start(timeout=_END_OTHER_TIMEOUT_S)
        return True
    except (KazooTimeoutError, kazoo_errors.KazooException):
        return False
    finally:
        with contextlib.suppress(kazoo_errors.KazooException):
            client.stop()
        client.close()


def _settle(future: "asyncio.Future[Any]", done: KazooResult, path: str) -> None:
    if future.done():
        return
    if done.successful():
        future.set_result(done.value)
    else:
        future.set_exception(translated(done.exception, path))


def _znode(data: bytes, stat: KazooStat) -> Znode:
    return Znode(data, stat.version, stat.czxid, stat.ephemeralOwner, stat.ctime, stat.mzxid)


def _add_operation(transaction: Any, operation: Operation, acl: tuple[Any, ...]) -> None:
    match operation:
        case ZnodeCreation(path, data, ephemeral, sequential):
            transaction.create(path, data, acl=acl, ephemeral=ephemeral, sequence=sequential)
        case SetData(path, data, version):
            transaction.set_data(path, data, version)
        case Delete(path, version):
            transaction.delete(path, version)
        case Check(path, version):
            transaction.check(path, version)
