"""Watching: look now, and again after every change and every reconnection.

A ZooKeeper watch fires once and tells only that something changed. A `ZnodeWatch` turns this into a stream of what is
there: each look sets the next watch before it reads, so no change is missed, though several changes may be seen as one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.zookeeper.errors import ConnectionInterrupted, MalformedZnode, NodeMissing, SessionLost
from broker.zookeeper.session import Watcher, ZooKeeperSession
from broker.zookeeper.znodes import CONFIG_CHANGES, decode_config_change

log = logger(__name__)

Seen = TypeVar("Seen")

#: How long a notification stays for those who have not read it yet; Kafka's value.
CONFIG_CHANGE_KEPT_MS = 15 * 60 * 1000
_TRY_AGAIN_S = 1.0
_RECONNECTED_S = 0.02


class Closable(Protocol):
    """A watch, whatever it sees."""

    def close(self) -> None: ...


class ZnodeWatch(Generic[Seen]):
    """Calls `deliver(await read(watcher))` now and whenever `watcher` has fired, until closed.

    `read` must pass the watcher on to a read of the session. Both run on the loop; `deliver` must not block.
    """

    def __init__(
        self,
        session: ZooKeeperSession,
        read: Callable[[Watcher], Awaitable[Seen]],
        deliver: Callable[[Seen], None],
    ):
        self._session = session
        self._read = read
        self._deliver = deliver
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            changed = asyncio.Event()
            try:
                self._deliver(await self._read(changed.set))
                await changed.wait()
            except (ConnectionInterrupted, SessionLost):
                await self._session.wait_connected()
                await asyncio.sleep(_RECONNECTED_S)
            except BarnabasError as error:
                log.warning("watch failed, looking again", error=str(error), kind=type(error).__name__)
                await asyncio.sleep(_TRY_AGAIN_S)
            except Exception:
                # Whatever somebody has written there: who looks no more never hears of what is written next.
                log.exception("watch failed, looking again")
                await asyncio.sleep(_TRY_AGAIN_S)


class Notices:
    """Reads the numbered notices below `parent`, each once, from the moment it `is_watching`.

    `tell` is given path and content, and may raise MalformedZnode. Those older than 15 minutes, by ZooKeeper's own
    clock, are removed in passing.
    """

    def __init__(self, session: ZooKeeperSession, parent: str, tell: Callable[[str, bytes], None]):
        self._session = session
        self._parent = parent
        self._tell_of = tell
        self._last_seen: str | None = None
        self.is_watching = asyncio.Event()
        self._watch = ZnodeWatch(session, self._look, lambda _seen: None)

    def close(self) -> None:
        self._watch.close()

    async def _look(self, watcher: Watcher) -> None:
        names = await self._session.children(self._parent, watcher)
        if self._last_seen is None:
            self._last_seen = names[-1] if names else ""
            self.is_watching.set()
            return
        fresh = [name for name in names if name > self._last_seen]
        for name in fresh:
            await self._notify(f"{self._parent}/{name}")
            self._last_seen = name
        if fresh:
            await self._purge(names)

    async def _notify(self, path: str) -> None:
        try:
            self._tell_of(path, (await self._session.get(path)).data)
        except NodeMissing:
            return
        except MalformedZnode as error:
            log.warning("notice of a change ignored", error=str(error))

    async def _purge(self, names: list[str]) -> None:
        newest = await self._session.exists(f"{self._parent}/{names[-1]}")
        for name in names:
            path = f"{self._parent}/{name}"
            znode = await self._session.exists(path)
            if newest is None or (znode and newest.created_at_ms - znode.created_at_ms < CONFIG_CHANGE_KEPT_MS):
                return
            if znode is not None:
                try:
                    await self._session.delete(path)
                except NodeMissing:
                    continue


class ConfigChanges(Notices):
    """Tells which entities' configs changed (`topics/T`, `brokers/N`)."""

    def __init__(self, session: ZooKeeperSession, deliver: Callable[[str], None]):
        super().__init__(session, CONFIG_CHANGES, lambda path, data: deliver(decode_config_change(path, data)))
