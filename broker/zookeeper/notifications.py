"""How leaders change an ISR and brokers call the controller, as Kafka before KIP-497.

The leader writes the partition's state over the version it knows, then names the partition in a numbered znode for the
controller. Not fenced by the controller's epoch: what protects the state is its own version, which every write raises.
"""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import islice
from typing import TypeVar

from broker.common.cluster import LeaderAndIsr
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.zookeeper import notification_znodes, znodes
from broker.zookeeper.ask_each import ask_each
from broker.zookeeper.errors import ConnectionInterrupted, MalformedZnode, NodeMissing, WrongVersion
from broker.zookeeper.session import Znode, ZooKeeperSession

_log = logger(__name__)

Read = TypeVar("Read")

#: With topic names of any length these fit into a request (limits.ZOOKEEPER_REQUEST_BYTES_MAX).
_PARTITIONS_PER_CHANGE = 800


async def write_isr(session: ZooKeeperSession, partition: TopicPartition, state: LeaderAndIsr) -> LeaderAndIsr | None:
    """Write `state` over the version it was derived from (`state.zk_version`).

    Returns what stands there now, with its version: `state` if it was written (also when only the answer was lost on
    the way), else what somebody else has written, which nobody may overwrite unread; None when the partition is gone.
    Waits while ZooKeeper is out of reach; the answer may then come too late for the caller, who must look again.
    """
    path, data = znodes.state_path(partition), znodes.encode_state(state)
    while True:
        try:
            return state.at_version(await session.set(path, data, state.zk_version))
        except NodeMissing:
            return None
        except WrongVersion:
            znode = await _get(session, path)
            return znode and _readable_state(partition, znode)
        except ConnectionInterrupted:
            await session.wait_connected()


def _readable_state(partition: TopicPartition, znode: Znode) -> LeaderAndIsr | None:
    try:
        return znodes.decode_state(partition, znode.data, znode.version)
    except MalformedZnode as error:
        _log.warning("partition state ignored", error=str(error))
        return None


async def announce_isr_changes(session: ZooKeeperSession, partitions: Iterable[TopicPartition]) -> None:
    """Have the controller read and publish these partitions' states."""
    rest = iter(partitions)
    while chunk := list(islice(rest, _PARTITIONS_PER_CHANGE)):
        data = notification_znodes.encode_isr_change(chunk)
        await session.create(notification_znodes.ISR_CHANGE_PREFIX, data, sequential=True)


async def announce_log_dir_failure(session: ZooKeeperSession, broker_id: int) -> None:
    """Have the controller ask this broker which replicas it can no longer host."""
    data = notification_znodes.encode_log_dir_event(broker_id)
    await session.create(notification_znodes.LOG_DIR_EVENT_PREFIX, data, sequential=True)


async def read_isr_changes(session: ZooKeeperSession, names: Collection[str]) -> set[TopicPartition]:
    """Return the partitions these notifications name, as far as they are there and can be read."""
    named = await _read_all(session, notification_znodes.ISR_CHANGES, names, notification_znodes.decode_isr_change)
    return {partition for partitions in named for partition in partitions}


async def read_log_dir_events(session: ZooKeeperSession, names: Collection[str]) -> set[int]:
    """Return the brokers these notifications name, as far as they are there and can be read."""
    decode = notification_znodes.decode_log_dir_event
    return set(await _read_all(session, notification_znodes.LOG_DIR_EVENTS, names, decode))


async def _read_all(
    session: ZooKeeperSession, parent: str, names: Collection[str], decode: Callable[[str, bytes], Read]
) -> list[Read]:
    paths = [f"{parent}/{name}" for name in sorted(names)]
    read = []
    for path, znode in zip(paths, await ask_each(partial(_get, session), paths), strict=True):
        try:
            if znode is not None:
                read.append(decode(path, znode.data))
        except MalformedZnode as error:
            _log.warning("notification ignored", error=str(error))
    return read


async def _get(session: ZooKeeperSession, path: str) -> Znode | None:
    try:
        return await session.get(path)
    except NodeMissing:
        return None
