"""Members and children of a znode as rows of a file."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from console.cluster.zookeeper.queries import ShownMember
from console.kit.gateway.zookeeper.interface import ChildView

MEMBER_TITLES = (
    "server",
    "address",
    "mode",
    "state",
    "role",
    "error",
    "latency_min_ms",
    "latency_avg_ms",
    "latency_max_ms",
    "connections",
    "outstanding",
    "znodes",
    "ephemerals",
    "watches",
    "data_bytes",
    "zxid",
    "version",
    "started_at",
)
_MEMBER_FIELDS = (
    "number",
    "address",
    "mode",
    "state",
    "role",
    "error",
    "latency_min_ms",
    "latency_ms",
    "latency_max_ms",
    "connection_count",
    "outstanding_count",
    "znode_count",
    "ephemeral_count",
    "watch_count",
    "data_bytes",
    "zxid",
    "version",
)
CHILD_TITLES = ("path", "children", "bytes", "ephemeral")


def member_rows(members: Iterable[ShownMember]) -> Iterator[tuple[object, ...]]:
    for member in members:
        started_at_ms = member.seen.started_at_ms
        started_at = datetime.fromtimestamp(started_at_ms / 1000, UTC) if started_at_ms else None
        yield (*(getattr(member.seen, name) for name in _MEMBER_FIELDS), started_at)


def child_rows(path: str, children: Iterable[ChildView]) -> Iterator[tuple[object, ...]]:
    prefix = path.rstrip("/")
    for child in children:
        yield (f"{prefix}/{child.name}", child.child_count, child.data_bytes, child.is_ephemeral)
