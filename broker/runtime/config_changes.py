"""Hands each change of a configuration in ZooKeeper to whoever keeps that kind: topics, brokers, users.

Changes are applied one at a time in the order of their notifications, and none is lost to an interrupted connection.
A keeper is told which entity changed, not what: it looks, so being told twice is no harm.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.runtime.periodic import rounds
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.watches import ConfigChanges

_log = logger(__name__)

#: The connection may be said to stand for a moment after it has gone.
_RECONNECTED_S = 0.02

#: Applies the configuration that the named entity has now; may raise the errors of ZooKeeper.
Apply = Callable[[str], Awaitable[None]]


class ConfigKeepers:
    """The listeners of configuration changes, by entity type as in the path: `topics/T`, `brokers/1`,
    `users/U/clients/C`. Several may keep one type (a user's credentials and quotas share a znode): each is told.
    """

    def __init__(self, session: ZooKeeperSession, keepers: Iterable[tuple[str, Apply]]):
        self._session = session
        self._keepers: dict[str, list[Apply]] = {}
        for entity_type, apply in keepers:
            self._keepers.setdefault(entity_type, []).append(apply)
        self._changed: asyncio.Queue[tuple[Apply, str]] = asyncio.Queue()
        self._changes: ConfigChanges | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns when every further change will be applied; what was read before may be old by then."""
        self._changes = ConfigChanges(self._session, self._on_change)
        self._task = asyncio.get_running_loop().create_task(rounds(self._apply_next))
        await self._changes.is_watching.wait()

    def stop(self) -> None:
        if self._changes and self._task:
            self._changes.close()
            self._task.cancel()

    def _on_change(self, entity_path: str) -> None:
        entity_type, _, name = entity_path.partition("/")
        for apply in self._keepers.get(entity_type, ()):
            self._changed.put_nowait((apply, name))

    async def _apply_next(self) -> None:
        await self._apply(*await self._changed.get())

    async def _apply(self, apply: Apply, name: str) -> None:
        while True:
            try:
                return await apply(name)
            except (ConnectionInterrupted, SessionLost):
                await self._session.wait_connected()
                await asyncio.sleep(_RECONNECTED_S)
            except BarnabasError as error:
                _log.error("changed configuration not applied", entity=name, reason=str(error))
                return None
