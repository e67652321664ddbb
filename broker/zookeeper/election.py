"""Who is controller: one transaction creates /controller and raises /controller_epoch.

Two brokers may both believe they should lead; the epoch's znode version decides. A term is remembered as that version,
and every write of a controller carries a check on it: a controller that has been replaced cannot write.
"""

import contextlib
from dataclasses import dataclass

from broker.common.types import NO_BROKER
from broker.zookeeper.errors import NodeExists, NodeMissing, WrongVersion
from broker.zookeeper.session import Check, Create, SetData, Watcher, ZooKeeperSession
from broker.zookeeper.znodes import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    decode_controller,
    decode_controller_epoch,
    encode_controller,
    encode_controller_epoch,
)


@dataclass(frozen=True)
class ControllerTerm:
    """The right to act as controller: the epoch brokers are told, and the znode version that fences writes."""

    epoch: int
    epoch_zk_version: int

    @property
    def fence(self) -> Check:
        """Goes first into every transaction of this controller."""
        return Check(CONTROLLER_EPOCH, self.epoch_zk_version)


async def try_become_controller(session: ZooKeeperSession, broker_id: int, now_ms: int) -> ControllerTerm | None:
    """A new term, or None when another broker is controller or was faster.

    When this session holds /controller already (an earlier attempt whose answer was lost), that term is returned.
    """
    held = await current_term(session, broker_id)
    if held is not None or await session.exists(CONTROLLER):
        return held
    epoch, zk_version = await _read_epoch(session)
    operations = [
        Create(CONTROLLER, encode_controller(broker_id, now_ms), ephemeral=True),
        SetData(CONTROLLER_EPOCH, encode_controller_epoch(epoch + 1), zk_version),
    ]
    try:
        _, new_version = await session.multi(operations)
    except (NodeExists, WrongVersion):
        return None
    return ControllerTerm(epoch + 1, new_version)


async def current_term(session: ZooKeeperSession, broker_id: int) -> ControllerTerm | None:
    """This session's term if /controller is still its own, else None."""
    try:
        controller = await session.get(CONTROLLER)
    except NodeMissing:
        return None
    if controller.ephemeral_owner != session.session_id or decode_controller(controller.data) != broker_id:
        return None
    return ControllerTerm(*await _read_epoch(session))


async def read_controller(session: ZooKeeperSession, watch: Watcher | None = None) -> int:
    """The id of the controller, -1 when there is none. The watch fires when that changes."""
    if await session.exists(CONTROLLER, watch) is None:
        return NO_BROKER
    try:
        return decode_controller((await session.get(CONTROLLER)).data)
    except NodeMissing:
        return NO_BROKER


async def resign(session: ZooKeeperSession, broker_id: int) -> None:
    """Give up /controller if it is this session's; the epoch stays raised."""
    try:
        controller = await session.get(CONTROLLER)
        if controller.ephemeral_owner == session.session_id and decode_controller(controller.data) == broker_id:
            await session.delete(CONTROLLER, controller.version)
    except (NodeMissing, WrongVersion):
        return


async def _read_epoch(session: ZooKeeperSession) -> tuple[int, int]:
    """The epoch and its znode version; the znode is made, at 0, by whoever comes first."""
    try:
        znode = await session.get(CONTROLLER_EPOCH)
    except NodeMissing:
        with contextlib.suppress(NodeExists):
            await session.create(CONTROLLER_EPOCH, encode_controller_epoch(0))
        znode = await session.get(CONTROLLER_EPOCH)
    return decode_controller_epoch(znode.data), znode.version
