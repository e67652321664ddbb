"""Protects the znodes of a cluster that began without access lists, as Kafka's zookeeper-security-migration does.

A broker does it at its start, once all registered brokers come with the cluster's user: one that does not could write
nothing afterwards. So brokers are restarted one by one, and the last of them finds nobody in its way. /cluster/id comes
last: an access list there tells that everything else has one.
"""

import asyncio
import contextlib
from collections.abc import Iterable
from itertools import islice

from broker.common.logs import logger
from broker.zookeeper import znodes
from broker.zookeeper.acls import OPEN
from broker.zookeeper.errors import NodeMissing
from broker.zookeeper.session import ZooKeeperSession

#: ZkData.SecureRootPaths of Kafka 3.9, /consumers, and what is ours alone.
_ROOTS = (
    "/admin",
    "/barnabas",
    "/brokers",
    "/cluster",
    "/config",
    znodes.CONTROLLER,
    znodes.CONTROLLER_EPOCH,
    "/consumers",
    "/delegation_token",
    "/feature",
    "/isr_change_notification",
    "/kafka-acl",
    "/kafka-acl-changes",
    "/kafka-acl-extended",
    "/kafka-acl-extended-changes",
    znodes.PRODUCER_ID_BLOCK,
    "/log_dir_event_notification",
    "/migration",
)
#: Requests under way at one time.
_AT_ONCE = 500

_log = logger(__name__)


async def protect_cluster(session: ZooKeeperSession) -> None:
    """Protect the root and the cluster's unprotected znodes; no-op once that is done.

    A znode that has an access list already keeps it. Without a chroot the root is the ensemble's: nobody else creates
    anything beside the cluster any more.
    """
    if not (await _is_open(session, "/") or await _is_open(session, znodes.CLUSTER_ID)):
        return
    if strangers := await _open_registrations(session):
        _log.warning("znodes stay open: registered without the cluster's user, restart them", brokers=strangers)
        return
    count = await _protect(session, ["/"])
    for root in _ROOTS:
        count += await _protect_tree(session, root)
    count += await _protect(session, [znodes.CLUSTER_ID])
    _log.info("znodes protected", count=count)


async def _open_registrations(session: ZooKeeperSession) -> str:
    names = await session.children(znodes.BROKER_IDS)
    open_flags = await asyncio.gather(*(_is_open(session, f"{znodes.BROKER_IDS}/{name}") for name in names))
    return ",".join(name for name, is_open in zip(names, open_flags, strict=True) if is_open)


async def _protect_tree(session: ZooKeeperSession, root: str) -> int:
    """Protect the tree, parents before children: below a protected znode no client adds an open one."""
    count, level = 0, [root]
    while level:
        count += await _protect(session, (path for path in level if path != znodes.CLUSTER_ID))
        level = [path for chunk in _chunks(level) for path in await _children(session, chunk)]
    return count


async def _protect(session: ZooKeeperSession, paths: Iterable[str]) -> int:
    """Protect the znodes; return how many of them were open."""
    count = 0
    for chunk in _chunks(paths):
        open_flags = await asyncio.gather(*(_is_open(session, path) for path in chunk))
        is_open = [path for path, is_open in zip(chunk, open_flags, strict=True) if is_open]
        await asyncio.gather(*(_protect_one(session, path) for path in is_open))
        count += len(is_open)
    return count


async def _protect_one(session: ZooKeeperSession, path: str) -> None:
    with contextlib.suppress(NodeMissing):
        await session.protect(path)


async def _is_open(session: ZooKeeperSession, path: str) -> bool:
    """Return whether the znode is open; False also if it does not exist."""
    try:
        return await session.acls(path) == OPEN
    except NodeMissing:
        return False


async def _children(session: ZooKeeperSession, paths: list[str]) -> list[str]:
    async def below(path: str) -> list[str]:
        return [f"{path}/{name}" for name in await session.children_if_present(path)]

    return [child for children in await asyncio.gather(*map(below, paths)) for child in children]


def _chunks(paths: Iterable[str]) -> Iterable[list[str]]:
    rest = iter(paths)
    while chunk := list(islice(rest, _AT_ONCE)):
        yield chunk
