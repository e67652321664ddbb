"""Whose word this broker takes as the controller's, and which words were meant for it.

A request carries the epoch of the controller that sends it and that of the registration it is sent to. Either is
believed to have grown only when ZooKeeper says so: who lies about the epoch of a controller to come would make this
broker deaf to the real one until then. `/controller_epoch` is raised in the transaction that makes a controller.
"""

from broker.common.controller_epoch import CONTROLLER_EPOCH_MAX, is_later
from broker.common.errors import ApiError, ErrorCode
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.zookeeper.errors import ConnectionInterrupted, MalformedZnode, SessionLost
from broker.zookeeper.store import ClusterStore


class ControllerEpochs:
    """What is known of both is noted in `replicas`."""

    def __init__(self, broker_id: int, replicas: ReplicaManager, store: ClusterStore):
        self._broker_id = broker_id
        self._replicas = replicas
        self._store = store

    async def check(self, controller_epoch: int, broker_epoch: int) -> None:
        """Check the epochs as `ReplicaManager.check_controller`, after a fresh look into ZooKeeper.

        Waits while ZooKeeper is out of reach: a controller asks until it is answered.
        """
        while True:
            try:
                await self._learn(controller_epoch, broker_epoch)
                break
            except (ConnectionInterrupted, SessionLost):
                await self._store.session.wait_connected()
            except MalformedZnode as error:
                raise ApiError(ErrorCode.STALE_CONTROLLER_EPOCH, str(error)) from error
        self._replicas.check_controller(controller_epoch, broker_epoch)

    async def _learn(self, controller_epoch: int, broker_epoch: int) -> None:
        replicas = self._replicas
        if broker_epoch > replicas.broker_epoch:
            # The controller may have seen our registration before we heard that it stands.
            replicas.broker_epoch = max(await self._store.own_epoch(self._broker_id), replicas.broker_epoch)
        if is_later(controller_epoch, replicas.controller_epoch) or self._ends_here():
            newest = await self._store.controller_epoch()
            if is_later(newest, replicas.controller_epoch) or self._ends_here():
                replicas.controller_epoch = newest

    def _ends_here(self) -> bool:
        """Return whether no epoch follows the one that is known: ZooKeeper is believed, also with a lower one."""
        return self._replicas.controller_epoch >= CONTROLLER_EPOCH_MAX
