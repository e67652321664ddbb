"""Controller election: one transaction creates /controller and raises /controller_epoch.

Two brokers may both believe they should lead; the epoch's znode version decides. An epoch is remembered as that
version, and every write of a controller carries a check on it: a controller that has been replaced cannot write.

The session that made /controller is controller, whatever somebody has written there since: its broker writes its own
name again. A /controller that is not ephemeral is no broker's and would stay for ever, so it is removed. Kafka leaves
the cluster without controller in both cases. What other sessions made is theirs, see `doubt_of_controller`.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from broker.common.controller_epoch import CONTROLLER_EPOCH_MAX
from broker.common.logs import logger
from broker.common.types import NO_BROKER
from broker.zookeeper.errors import MalformedZnode, NodeExists, NodeMissing, WrongVersion
from broker.zookeeper.session import Check, Delete, Operation, SetData, Watcher, ZnodeCreation, ZooKeeperSession
from broker.zookeeper.znodes import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    broker_path,
    decode_broker,
    decode_controller,
    decode_controller_epoch,
    encode_controller,
    encode_controller_epoch,
)

_log = logger(__name__)

#: Of what somebody wrote there, so much goes into the log.
_SAID_BYTES_MAX = 100


@dataclass(frozen=True)
class ControllerEpoch:
    """The right to act as controller: the epoch brokers are told, and the znode version that fences writes."""

    epoch: int
    epoch_zk_version: int

    @property
    def fence(self) -> Check:
        """Goes first into every transaction of this controller."""
        return Check(CONTROLLER_EPOCH, self.epoch_zk_version)


async def try_become_controller(
    session: ZooKeeperSession, broker_id: int, now_ms: int, held: ControllerEpoch | None = None
) -> ControllerEpoch | None:
    """Return a new controller epoch, or None when another broker is controller or was faster.

    When this session holds /controller already (an earlier attempt whose answer was lost), the present one is returned,
    but for one that no other can follow and that is not `held`: it was written by hand, and the count begins anew.
    """
    # Read first: whoever is elected between the two looks has raised it, and is not taken for whom was found.
    epoch, zk_version = await _read_epoch(session)
    holder = await _read_holder(session)
    if holder is None:
        return await _take_office(session, broker_id, now_ms, epoch, zk_version)
    if holder.session_id == session.session_id:
        if epoch is None or (epoch >= CONTROLLER_EPOCH_MAX and ControllerEpoch(epoch, zk_version) != held):
            replaced = Delete(CONTROLLER, holder.version)
            return await _take_office(session, broker_id, now_ms, epoch, zk_version, [replaced])
        if holder.broker_id != broker_id:
            await _write_own_name(session, broker_id, now_ms, holder)
        return ControllerEpoch(epoch, zk_version)
    if holder.session_id == _NOBODY:
        _log.error("/controller is not ephemeral, so no broker made it: removed", data=holder.data)
        removed = Delete(CONTROLLER, holder.version)
        return await _take_office(session, broker_id, now_ms, epoch, zk_version, [removed])
    return None


async def _write_own_name(session: ZooKeeperSession, broker_id: int, now_ms: int, holder: "_Holder") -> None:
    """Write our id into the znode. A concurrent write is seen at the next look, which the znode's change triggers."""
    _log.error("/controller was overwritten by another client, written again", controller=broker_id, data=holder.data)
    with contextlib.suppress(NodeMissing, WrongVersion):
        await session.set(CONTROLLER, encode_controller(broker_id, now_ms), holder.version)


async def _take_office(
    session: ZooKeeperSession,
    broker_id: int,
    now_ms: int,
    last_epoch: int | None,
    zk_version: int,
    before: Sequence[Operation] = (),
) -> ControllerEpoch | None:
    """Return the epoch after `last_epoch`, 1 if none follows (see `ControllerStore.raise_epoch`); None if another
    broker was faster.
    """
    if last_epoch is None or last_epoch >= CONTROLLER_EPOCH_MAX:
        _log.error(
            "/controller_epoch cannot be raised: the next controller epoch follows those in the partition states",
            last_epoch=last_epoch,
        )
        last_epoch = 0
    epoch = last_epoch + 1
    operations = [
        *before,
        ZnodeCreation(CONTROLLER, encode_controller(broker_id, now_ms), ephemeral=True),
        SetData(CONTROLLER_EPOCH, encode_controller_epoch(epoch), zk_version),
    ]
    try:
        *_, new_version = await session.multi(operations)
    except (NodeExists, WrongVersion):
        return None
    except NodeMissing as error:
        if error.path != CONTROLLER:
            raise
        return None
    return ControllerEpoch(epoch, new_version)


async def read_controller(session: ZooKeeperSession, watch: Watcher | None = None) -> int:
    """Return the controller's id, -1 if there is none or it is unreadable. The watch fires when that changes."""
    if watch is not None and await session.exists(CONTROLLER, watch) is None:
        return NO_BROKER
    holder = await _read_holder(session)
    return NO_BROKER if holder is None else holder.broker_id


class ControllerDoubt(NamedTuple):
    """Why the holder of /controller may not work as controller, and what an operator can do."""

    reason: str
    remedy: str


_VACATE = "delete /controller in ZooKeeper, the brokers elect one at once"
_STOP_FOREIGN = "stop that broker and give its cluster a chroot of its own; the brokers elect a controller at once"


async def doubt_of_controller(session: ZooKeeperSession) -> ControllerDoubt | None:
    """Return why the holder of /controller seems unfit; None if it is well, or /controller is vacant. A broker of
    another Kafka is no controller of this cluster: it is no member, so that no broker here does what it says.

    True for a moment of a broker that registers anew, or that is about to write its name again.
    """
    holder = await _read_holder(session)
    if holder is None:
        return None
    if holder.broker_id == NO_BROKER:
        made_by = f"it was made by session {holder.session_id:#x}, which lives"
        return ControllerDoubt(f"{holder.complaint}; {made_by}", _VACATE)
    try:
        data = (await session.get(broker_path(holder.broker_id))).data
        if not decode_broker(holder.broker_id, data, 0).registration.is_foreign:
            return None
    except NodeMissing:
        return ControllerDoubt(f"{CONTROLLER} names broker {holder.broker_id}, which is not registered", _VACATE)
    except MalformedZnode:
        return None
    return ControllerDoubt(f"{CONTROLLER} is held by broker {holder.broker_id} of another Kafka", _STOP_FOREIGN)


async def resign(session: ZooKeeperSession) -> None:
    """Give up /controller if it is this session's; the epoch stays raised."""
    holder = await _read_holder(session)
    if holder is not None and holder.session_id == session.session_id:
        with contextlib.suppress(NodeMissing, WrongVersion):
            await session.delete(CONTROLLER, holder.version)


#: Instead of the session that made it, of a znode that stays when its session goes.
_NOBODY = 0


class _Holder(NamedTuple):
    """The broker that holds /controller."""

    session_id: int
    version: int
    data: bytes
    #: NO_BROKER if it names none, and why.
    broker_id: int
    complaint: str = ""


async def _read_holder(session: ZooKeeperSession) -> _Holder | None:
    try:
        znode = await session.get(CONTROLLER)
    except NodeMissing:
        return None
    facts = (znode.ephemeral_owner, znode.version, znode.data[:_SAID_BYTES_MAX])
    try:
        return _Holder(*facts, decode_controller(znode.data))
    except MalformedZnode as error:
        return _Holder(*facts, NO_BROKER, str(error))


async def _read_epoch(session: ZooKeeperSession) -> tuple[int | None, int]:
    """Return the epoch, None if it is none, and its znode version; the znode is made, at 0, by whoever comes first."""
    try:
        znode = await session.get(CONTROLLER_EPOCH)
    except NodeMissing:
        with contextlib.suppress(NodeExists):
            await session.create(CONTROLLER_EPOCH, encode_controller_epoch(0))
        znode = await session.get(CONTROLLER_EPOCH)
    try:
        return decode_controller_epoch(znode.data), znode.version
    except MalformedZnode as error:
        _log.error("/controller_epoch is no epoch", reason=str(error), data=znode.data[:_SAID_BYTES_MAX])
        return None, znode.version
