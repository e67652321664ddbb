"""What is asked of the controller by znodes below /admin, and the znodes' end."""

import contextlib
from collections.abc import Callable, Mapping
from typing import TypeVar

from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.zookeeper.admin_znodes import (
    ELECTION_REQUEST,
    REASSIGNMENT_REQUEST,
    Targets,
    decode_election_request,
    decode_reassignment_request,
    encode_reassignment_request,
)
from broker.zookeeper.controller_store import ControllerStore
from broker.zookeeper.errors import MalformedZnode, NodeMissing
from broker.zookeeper.session import Delete, SetData, Watcher, ZooKeeperSession

_log = logger(__name__)

Asked = TypeVar("Asked")


async def read_reassignment_request(session: ZooKeeperSession, watch: Watcher | None = None) -> Targets | None:
    """Read a reassignment request; None without one; no targets when it is malformed (logged)."""
    return await _read(session, REASSIGNMENT_REQUEST, decode_reassignment_request, {}, watch)


async def read_election_request(
    session: ZooKeeperSession, watch: Watcher | None = None
) -> frozenset[TopicPartition] | None:
    """Read an election request; None without one; no partitions when it is malformed (logged)."""
    return await _read(session, ELECTION_REQUEST, decode_election_request, frozenset(), watch)


async def rewrite_reassignment_request(
    writes: ControllerStore, targets: Mapping[TopicPartition, tuple[int, ...]]
) -> None:
    """Leave only these targets, or remove the request with the last. A request that is gone is not made again."""
    data = encode_reassignment_request(targets)
    write = SetData(REASSIGNMENT_REQUEST, data) if targets else Delete(REASSIGNMENT_REQUEST)
    with contextlib.suppress(NodeMissing):
        await writes.fenced([write])


async def remove_election_request(writes: ControllerStore) -> None:
    with contextlib.suppress(NodeMissing):
        await writes.fenced([Delete(ELECTION_REQUEST)])


async def _read(
    session: ZooKeeperSession, path: str, decode: Callable[[bytes], Asked], unreadable: Asked, watch: Watcher | None
) -> Asked | None:
    if watch is not None and await session.exists(path, watch) is None:
        return None
    try:
        return decode((await session.get(path)).data)
    except NodeMissing:
        return None
    except MalformedZnode as error:
        _log.warning("request removed", error=str(error))
        return unreadable
