"""What the members of a cluster know each other by: a znode its first broker makes. Who can read it is a member."""

import contextlib
import os
from collections.abc import Mapping

from broker.security.membership import SECRET_BYTES
from broker.zookeeper import znodes
from broker.zookeeper.errors import NodeExists, NodeMissing
from broker.zookeeper.features import features_creation
from broker.zookeeper.session import ZnodeCreation, ZooKeeperSession


async def ensure_secret(session: ZooKeeperSession, levels: Mapping[str, int] | None = None) -> bytes:
    """Return the cluster's secret, made if there is none. Raises MalformedZnode, and the errors of ZooKeeper.

    `levels`: of a new cluster, the levels of features that are finalized with the secret, both or neither.
    """
    await session.ensure(znodes.SECRET.rpartition("/")[0])
    secret = ZnodeCreation(znodes.SECRET, znodes.encode_secret(os.urandom(SECRET_BYTES)))
    with contextlib.suppress(NodeExists):
        await session.multi([secret] if levels is None else [secret, features_creation(levels)])
    return znodes.decode_secret((await session.get(znodes.SECRET)).data)


async def read_secret(session: ZooKeeperSession) -> bytes | None:
    """Read the cluster's secret; None where no broker of this kind has started yet. Raises as `ensure_secret`."""
    try:
        return znodes.decode_secret((await session.get(znodes.SECRET)).data)
    except NodeMissing:
        return None
