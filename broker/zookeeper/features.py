"""The finalized features of a cluster: /feature, as Kafka's controller in ZooKeeper mode writes it (KIP-584)."""

from collections.abc import Mapping
from typing import Any

from broker.common.features import FinalizedFeatures
from broker.zookeeper.errors import MalformedZnode, NodeExists, NodeMissing, WrongVersion
from broker.zookeeper.json_fields import decode_fields, encode_fields, int32
from broker.zookeeper.session import Watcher, Znode, ZnodeCreation, ZooKeeperSession

FEATURE = "/feature"
_LEVEL_MAX = 2**15 - 1
#: Of the znode's `status`: Kafka before 2.7 finalizes nothing.
_ENABLED = 1


def encode_features(levels: Mapping[str, int]) -> bytes:
    """Return version 2 of the znode's content, which Kafka writes since 3.3."""
    features = {name: {"max_version_level": level} for name, level in sorted(levels.items())}
    return encode_fields({"version": 2, "status": _ENABLED, "features": features})


def decode_features(znode: Znode) -> FinalizedFeatures:
    """Return the levels. Their epoch is the transaction that wrote them: unlike Kafka's, which is the znode's version,
    it also rises when the znode was removed by hand. Raises MalformedZnode.
    """
    fields = decode_fields(FEATURE, znode.data)
    try:
        levels = {name: _level(range_of) for name, range_of in (fields.get("features") or {}).items()}
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise MalformedZnode(f"{FEATURE} has no readable levels") from error
    return FinalizedFeatures(levels if fields.get("status") == _ENABLED else {}, znode.mzxid, znode.version)


def _level(range_of: Mapping[str, Any]) -> int:
    level = int32(range_of["max_version_level"])
    if level > _LEVEL_MAX:
        raise ValueError(level)
    return level


def features_creation(levels: Mapping[str, int]) -> ZnodeCreation:
    """Return the operation that finalizes `levels` in a cluster that has never finalized anything."""
    return ZnodeCreation(FEATURE, encode_features(levels))


async def read_features(session: ZooKeeperSession, watch: Watcher | None = None) -> FinalizedFeatures | None:
    """Return what is finalized, None without the znode; the watch fires when it comes, changes or goes.

    Raises MalformedZnode, and the errors of ZooKeeper.
    """
    if watch is not None and await session.exists(FEATURE, watch) is None:
        return None
    try:
        return decode_features(await session.get(FEATURE))
    except NodeMissing:
        return None


async def write_features(session: ZooKeeperSession, levels: Mapping[str, int], present: FinalizedFeatures) -> bool:
    """Finalize `levels` in place of `present`; False when somebody else has written others meanwhile."""
    try:
        if present.zk_version < 0:
            await session.create(FEATURE, encode_features(levels))
        else:
            await session.set(FEATURE, encode_features(levels), present.zk_version)
    except (NodeExists, NodeMissing, WrongVersion):
        return False
    return True
