"""What the members of a cluster know each other by: a znode its first broker makes. Who can read it is a member."""

import contextlib
import os

from broker.security.membership import SECRET_BYTES
from broker.zookeeper import znodes
from broker.zookeeper.errors import NodeExists, NodeMissing
from broker.zookeeper.session import ZooKeeperSession


async def ensure_secret(session: ZooKeeperSession) -> bytes:
    """The cluster's secret, made if there is none. Raises MalformedZnode, and the errors of ZooKeeper."""
    await session.ensure(znodes.SECRET.rpartition("/")[0])
    with contextlib.suppress(NodeExists):
        await session.create(znodes.SECRET, znodes.encode_secret(os.urandom(SECRET_BYTES)))
    return znodes.decode_secret((await session.get(znodes.SECRET)).data)


async def read_secret(session: ZooKeeperSession) -> bytes | None:
    """None where no broker of this kind has started yet. Raises as `ensure_secret`."""
    try:
        return znodes.decode_secret((await session.get(znodes.SECRET)).data)
    except NodeMissing:
        return None
