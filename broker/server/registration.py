"""Keeps this broker's znode in `/brokers/ids` as long as the broker lives.

A lost ZooKeeper session is not the broker's death: it registers again under the same id with a new broker epoch, and
drops nothing it holds.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from broker.common.cluster import BrokerRegistration
from broker.common.errors import StartupError
from broker.common.logs import logger
from broker.runtime.replication.log_reconciliation import LogReconciliation
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.zookeeper.earlier_session import SessionNote
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost, ZooKeeperError
from broker.zookeeper.session import SessionState
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)
_TRY_AGAIN_S = 1.0


class Registration:
    """Registers at `start`, again after every lost session, and leaves at `stop`."""

    def __init__(
        self,
        store: ClusterStore,
        registration: Callable[[], BrokerRegistration],
        replicas: ReplicaManager,
        note: SessionNote,
        reconciliation: LogReconciliation,
    ):
        self._store = store
        self._reconciliation = reconciliation
        self._note = note
        self._registration = registration
        self._broker_id = registration().broker_id
        #: What `LogReconciliation` returned for the present session: see `BrokerRegistration`.
        self._ids_restored_at = -1
        #: What our znode says.
        self._written: BrokerRegistration | None = None
        self._replicas = replicas
        self._again: asyncio.Task[None] | None = None
        self._sessions_lost = 0
        self._is_stopping = False
        self.is_registered = False

    async def start(self) -> None:
        """Raises StartupError when another live broker has our id."""
        self._store.session.on_state(self._on_session)
        await self._note.end_earlier(self._store.session)
        await self._store.wait_unregistered(self._broker_id)
        self._ids_restored_at = await self._reconciliation.run()
        await self._register()

    async def update_registration(self) -> None:
        """Write the current facts into our znode, under the same broker epoch. Raises ZooKeeperError."""
        registration = self._current()
        if self.is_registered and registration != self._written:
            await self._store.update_registration(registration)
            self._written = registration
            _log.info("registered anew", endpoints=",".join(endpoint.listener for endpoint in registration.endpoints))

    async def stop(self) -> None:
        self._is_stopping = True
        if self._again:
            self._again.cancel()
        if self.is_registered and self._store.session.state is SessionState.CONNECTED:
            await self._store.unregister_broker(self._broker_id)
            self._note.remove()
        self.is_registered = False

    async def _restore_ids_and_register(self) -> None:
        """Register with a proof that no log notes an id which its topic lacks; without one while roles are taken, which
        may take as long as a disk hangs.

        A role that is taken between the two could make a log that notes an id which was not looked for.
        """
        if self._replicas.taking_roles.locked():
            self._ids_restored_at = -1
            await self._register()
            return
        async with self._replicas.taking_roles:
            self._ids_restored_at = await self._restored_ids()
            await self._register()

    async def _restored_ids(self) -> int:
        """As `LogReconciliation.restore_topic_ids`, -1 if that is refused: one topic keeps no broker away."""
        try:
            return await self._reconciliation.restore_topic_ids()
        except (ConnectionInterrupted, SessionLost):
            raise
        except ZooKeeperError as error:
            _log.warning("topic ids not restored; topics without one wait for the next start", reason=str(error))
            return -1

    def _current(self) -> BrokerRegistration:
        return replace(self._registration(), ids_restored_at=self._ids_restored_at)

    async def _register(self) -> None:
        lost_before = self._sessions_lost
        registration = self._current()
        self._replicas.broker_epoch = await self._store.register_broker(registration)
        if lost_before != self._sessions_lost:
            return  # the session went while its answer was on the way, and our znode with it
        self._note.write(self._store.session)
        self._written = registration
        self.is_registered = True
        _log.info("registered", broker_epoch=self._replicas.broker_epoch)

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.LOST and not self._is_stopping:
            _log.warning("zookeeper session lost, registering again")
            self.is_registered = False
            self._replicas.lost_epoch = self._replicas.broker_epoch
            self._sessions_lost += 1
            if self._again is None or self._again.done():
                self._again = asyncio.get_running_loop().create_task(self._register_again())

    async def _register_again(self) -> None:
        while not self.is_registered:
            try:
                await self._store.session.wait_connected()
                await self._restore_ids_and_register()
            except (ZooKeeperError, StartupError) as error:
                _log.warning("cannot register", reason=str(error))
                await asyncio.sleep(_TRY_AGAIN_S)
            except Exception:
                _log.exception("cannot register")
                await asyncio.sleep(_TRY_AGAIN_S)
