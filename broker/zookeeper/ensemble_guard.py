"""What an ensemble of ours is given by its super user when it serves: quotas, and a /zookeeper that is nobody's else.

The quotas follow from the heap that the servers are launched with, so they are set by whoever launches them.
"""

import asyncio
import contextlib
from collections.abc import Callable

from broker.common.errors import NotNowError
from broker.common.logs import logger
from broker.zookeeper.acls import OPEN
from broker.zookeeper.digest_file import Digest
from broker.zookeeper.errors import NodeExists, ZooKeeperError
from broker.zookeeper.quota import QUOTA_PATH, QUOTAS, Amount, encode_limits, limits_path, used_path
from broker.zookeeper.session import ZooKeeperSession

_SESSION_TIMEOUT_MS = 10_000
_CONNECTION_TIMEOUT_MS = 5_000
_TRY_AGAIN_S = 0.2

_log = logger(__name__)


async def guard_ensemble(connect: str, super_password: str, server_is_alive: Callable[[], bool]) -> None:
    """Returns when it is done, or when the server has ended before; until there is a quorum it tries again."""
    while server_is_alive():
        session = ZooKeeperSession(connect, _SESSION_TIMEOUT_MS, Digest(f"super:{super_password}"), sets_acls=True)
        try:
            await session.connect(_CONNECTION_TIMEOUT_MS)
            await _guard(session)
            await session.close()
            return
        except NotNowError:
            continue
        except ZooKeeperError as error:
            _log.warning("quotas not set, trying again", reason=str(error))
            await session.close()
        await asyncio.sleep(_TRY_AGAIN_S)


async def _guard(session: ZooKeeperSession) -> None:
    for path in ("/zookeeper", QUOTA_PATH):
        if await session.acls(path) == OPEN:
            await session.protect(path)
    for root, quota in QUOTAS.items():
        await _set_quota(session, root, quota)


async def _set_quota(session: ZooKeeperSession, root: str, quota: Amount) -> None:
    """Set the quota; limits come first, because ZooKeeper counts used room only beside existing limits."""
    path, text = limits_path(root), encode_limits(quota)
    if await session.exists(path) is None:
        await session.ensure(f"{QUOTA_PATH}{root}")
        with contextlib.suppress(NodeExists):
            await session.create(path, text)
        _log.info("quota set", path=root, znodes=quota.znodes, bytes=quota.bytes)
    elif (await session.get(path)).data != text:
        await session.set(path, text)
        _log.info("quota changed", path=root, znodes=quota.znodes, bytes=quota.bytes)
    await session.ensure(used_path(root))
