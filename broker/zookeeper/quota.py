"""ZooKeeper's quotas: how much a subtree may hold, and whether there is room for more.

A quota is two znodes below /zookeeper/quota: limits, which somebody writes, and what is used, which ZooKeeper counts.
It holds for the znode and all below it, and is enforced by servers since 3.7 that have `enforceQuota`. Servers of ours
have them (`ensemble_guard.py`); an operator's own ensemble may have none, and then nothing is bounded here.
"""

import asyncio
from dataclasses import dataclass

from broker.common import limits
from broker.zookeeper.errors import NodeMissing, QuotaExceeded
from broker.zookeeper.session import ZooKeeperSession

QUOTA_PATH = "/zookeeper/quota"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of znodes, and of the bytes that are in them."""

    znodes: int
    bytes: int


#: The znode of a partition's state, with the largest numbers there may be.
_STATE_BYTES = 100

#: The rest of a request is for paths and access lists.
_REQUEST_SHARE = 0.95

QUOTAS = {
    "/brokers": Amount(limits.ZOOKEEPER_BROKERS_ZNODES_MAX, limits.ZOOKEEPER_BROKERS_BYTES_MAX),
    "/config": Amount(limits.ZOOKEEPER_CONFIG_ZNODES_MAX, limits.ZOOKEEPER_CONFIG_BYTES_MAX),
    "/delegation_token": Amount(limits.ZOOKEEPER_TOKENS_ZNODES_MAX, limits.ZOOKEEPER_TOKENS_BYTES_MAX),
}


def amount_of_partitions(count: int, topic_bytes: int, *, is_new: bool) -> Amount:
    """Return what a topic takes below /brokers when it is created with, or gets, that many partitions."""
    return Amount(2 * count + (2 if is_new else 0), topic_bytes + _STATE_BYTES * count)


def limits_path(root: str) -> str:
    return f"{QUOTA_PATH}{root}/zookeeper_limits"


def used_path(root: str) -> str:
    return f"{QUOTA_PATH}{root}/zookeeper_stats"


def encode_limits(quota: Amount) -> bytes:
    """Encode the limits as ZooKeeper's StatsTrack, without soft limits, of which it only warns."""
    return f"count=-1,bytes=-1;byteHardLimit={quota.bytes};countHardLimit={quota.znodes}".encode()


async def require_room(session: ZooKeeperSession, root: str, wanted: Amount) -> None:
    """Raise QuotaExceeded unless the subtree has room for `wanted` and a reserve; without a quota there is room."""
    try:
        quota, used = await asyncio.gather(session.get(limits_path(root)), session.get(used_path(root)))
    except NodeMissing:
        return
    most, taken = _fields(quota.data), _fields(used.data)
    for what, limit, is_taken, more in (
        ("znodes", most.get("countHardLimit", -1), taken.get("count", 0), wanted.znodes),
        ("bytes", most.get("byteHardLimit", -1), taken.get("bytes", 0), wanted.bytes),
    ):
        admitted = int(limit * limits.ZOOKEEPER_QUOTA_ADMITTED_SHARE)
        if limit >= 0 and is_taken + more > admitted:
            sentence = f"{is_taken} of {admitted} {what} are used, and {more} more are needed; delete topics first"
            raise QuotaExceeded(root, sentence)


async def require_fitting(session: ZooKeeperSession, root: str, request_bytes: int) -> None:
    """Raise QuotaExceeded for a request larger than our servers read: they would close the connection instead."""
    most = int(limits.ZOOKEEPER_REQUEST_BYTES_MAX * _REQUEST_SHARE)
    if request_bytes > most and await session.exists(limits_path(root)):
        raise QuotaExceeded(root, f"{request_bytes} bytes at once are more than the {most} ZooKeeper takes")


def _fields(data: bytes) -> dict[str, int]:
    """Parse the fields, which ZooKeeper wrote or accepted; anything but a number is left out."""
    pairs = (part.partition("=") for part in data.decode(errors="replace").replace(";", ",").split(","))
    return {name: int(value) for name, _, value in pairs if value.removeprefix("-").isdecimal()}
