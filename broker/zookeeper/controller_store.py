"""What only the controller writes. Every transaction starts with the fence of its controller epoch.

WrongVersion or NodeMissing on the fence's own znode means that a newer controller exists: `ControllerMoved`.
"""

import contextlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

from broker.common.cluster import NOT_WRITTEN, LeaderAndIsr
from broker.common.controller_epoch import epoch_above
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.zookeeper import znodes
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.election import ControllerEpoch
from broker.zookeeper.errors import (
    NodeExists,
    NodeMissing,
    NodeNotEmpty,
    QuotaExceeded,
    WrongVersion,
    ZooKeeperError,
)
from broker.zookeeper.session import Delete, Operation, SetData, ZnodeCreation, ZooKeeperSession
from broker.zookeeper.store import ClusterStore

#: Operations in one transaction: far below ZooKeeper's limit of a request, large enough that the round trip is not
#: what a big topic waits for.
OPERATIONS_PER_TRANSACTION = 200


#: What keeps one state from being written and says nothing of the others.
_REFUSALS = (WrongVersion, NodeExists, NodeMissing, QuotaExceeded)

Item = TypeVar("Item")

_log = logger(__name__)

States = dict[TopicPartition, LeaderAndIsr]


class ControllerMoved(ZooKeeperError):
    """Another controller has been elected since this epoch began; nothing was written."""


class ControllerStore:
    """Writes of one controller epoch."""

    def __init__(self, store: ClusterStore, controller_epoch: ControllerEpoch, *, is_new: bool = True):
        """`is_new`: nothing was written in this epoch yet."""
        self._store = store
        self._session: ZooKeeperSession = store.session
        self.controller_epoch = controller_epoch
        self._is_new = is_new

    async def raise_epoch(self, states: Iterable[LeaderAndIsr], known_epoch: int = -1) -> ControllerEpoch:
        """Raise this epoch above `known_epoch` and those in `states` if it is not; return it.

        /controller_epoch is too low where it was restored from a backup, or was malformed: brokers refuse what comes
        under an epoch below the last one they know. Raises ControllerMoved.
        """
        epoch = self.controller_epoch.epoch
        wanted = epoch_above(epoch, (known_epoch, *(state.controller_epoch for state in states)))
        if self._is_new and wanted != epoch:
            data = znodes.encode_controller_epoch(wanted)
            try:
                fence = self.controller_epoch.epoch_zk_version
                zk_version = await self._session.set(znodes.CONTROLLER_EPOCH, data, fence)
            except (WrongVersion, NodeMissing) as error:
                raise ControllerMoved(error.path, f"controller epoch {epoch} was superseded") from error
            _log.warning("controller epoch raised above those in use", controller_epoch=wanted, read=epoch - 1)
            self.controller_epoch = ControllerEpoch(wanted, zk_version)
        return self.controller_epoch

    async def write_states(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> tuple[States, States]:
        """Write each state over its zk_version, creating missing ones.

        Returns what was written (with the new zk_version) and, for partitions somebody else has written meanwhile, what
        stands there instead. A partition whose topic has gone is in neither, nor is one that ZooKeeper's quota has no
        room for: it is left without a state, and all others go on.
        """
        await self._ensure_parents([p for p, state in states.items() if state.zk_version == NOT_WRITTEN])
        written: dict[TopicPartition, LeaderAndIsr] = {}
        refused: list[TopicPartition] = []
        for chunk in _chunks(states.items()):
            try:
                written |= await self._write_chunk(chunk)
            except _REFUSALS:
                for one in chunk:
                    try:
                        written |= await self._write_chunk([one])
                    except _REFUSALS:
                        refused.append(one[0])
        return written, await self._store.states(refused)

    async def _write_chunk(self, chunk: list[tuple[TopicPartition, LeaderAndIsr]]) -> States:
        results = await self.fenced([_state_operation(partition, state) for partition, state in chunk])
        return {
            partition: state.at_version(0 if state.zk_version == NOT_WRITTEN else result)
            for (partition, state), result in zip(chunk, results, strict=True)
        }

    async def _ensure_parents(self, partitions: list[TopicPartition]) -> None:
        """Create the parents of new states: /partitions and /partitions/P of a topic."""
        topics = sorted({partition.topic for partition in partitions})
        await self._create_missing([znodes.partitions_path(topic) for topic in topics])
        await self._create_missing([znodes.partition_path(partition) for partition in partitions])

    async def _create_missing(self, paths: list[str]) -> None:
        existing = await ask_each(self._session.exists, paths)
        missing = [path for path, znode in zip(paths, existing, strict=True) if znode is None]
        for chunk in _chunks(missing):
            try:
                await self.fenced([ZnodeCreation(path) for path in chunk])
            except QuotaExceeded as error:
                _log.error("partitions stay without a state: delete topics", reason=str(error))
                return
            except (NodeExists, NodeMissing):
                for path in chunk:
                    with contextlib.suppress(NodeExists, NodeMissing, QuotaExceeded):
                        await self.fenced([ZnodeCreation(path)])

    async def remove_topic(self, topic: str) -> None:
        """Remove a topic's znodes, its config and the request to delete it, in an order that survives interruption.

        The request goes with the topic itself in one transaction, so a removal that stopped half way is taken up again.
        """
        while True:
            below = await self._descendants(znodes.topic_path(topic))
            for chunk in _chunks(below):
                with contextlib.suppress(NodeMissing, NodeNotEmpty):
                    await self.fenced([Delete(path) for path in chunk])
            last = (znodes.topic_path(topic), znodes.config_path("topics", topic), znodes.delete_topic_path(topic))
            existing = [path for path in last if await self._session.exists(path)]
            with contextlib.suppress(NodeMissing, NodeNotEmpty):
                if existing:
                    await self.fenced([Delete(path) for path in existing])
                return

    async def remove_deletion_request(self, topic: str) -> None:
        """Remove a deletion request unless the topic exists."""
        if await self._session.exists(znodes.topic_path(topic)):
            return
        with contextlib.suppress(NodeMissing):
            await self.fenced([Delete(znodes.delete_topic_path(topic))])

    async def remove_notifications(self, parent: str, names: Iterable[str]) -> None:
        """Remove the children of these names; missing ones are ignored."""
        for chunk in _chunks(f"{parent}/{name}" for name in sorted(names)):
            try:
                await self.fenced([Delete(path) for path in chunk])
            except NodeMissing:
                for path in chunk:
                    with contextlib.suppress(NodeMissing):
                        await self.fenced([Delete(path)])

    async def _descendants(self, path: str) -> list[str]:
        """Return everything below `path`, children before their parents."""
        try:
            names = await self._session.children(path)
        except NodeMissing:
            return []
        below: list[str] = []
        for deeper in await ask_each(self._descendants, (f"{path}/{name}" for name in names)):
            below += deeper
        return below + [f"{path}/{name}" for name in names]

    async def fenced(self, operations: list[Operation]) -> list[Any]:
        """Apply all operations or none, and none after this controller epoch: ControllerMoved."""
        try:
            return (await self._session.multi([self.controller_epoch.fence, *operations]))[1:]
        except (WrongVersion, NodeMissing) as error:
            if error.path == znodes.CONTROLLER_EPOCH:
                raise ControllerMoved(
                    error.path, f"controller epoch {self.controller_epoch.epoch} was superseded"
                ) from error
            raise


def _state_operation(partition: TopicPartition, state: LeaderAndIsr) -> Operation:
    path, data = znodes.state_path(partition), znodes.encode_state(state)
    return ZnodeCreation(path, data) if state.zk_version == NOT_WRITTEN else SetData(path, data, state.zk_version)


def _chunks(items: Iterable[Item]) -> Iterable[list[Item]]:
    rest = iter(items)
    while chunk := list(islice(rest, OPERATIONS_PER_TRANSACTION)):
        yield chunk
