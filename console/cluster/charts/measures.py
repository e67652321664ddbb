"""What is measured of each kind of object, in the order in which its columns are kept. Pure."""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import NamedTuple

#: A group's name is the longest there is; that of an API has its broker in front.
NAME_LENGTH_MAX = 512

CLUSTER, TOPIC, BROKER, GROUP, API, SERVER = "cluster", "topic", "broker", "group", "api", "zookeeper"
PROCESS, STREAM, CONNECTOR, MIRROR = "process", "stream", "connector", "mirror"
DELIVERY = "delivery"

#: Columns may be added at the end; what is kept of before has none of them.
KINDS: dict[str, tuple[str, ...]] = {
    CLUSTER: ("records", "bytes", "lag", "out_of_sync", "leaderless", "brokers"),
    TOPIC: ("records", "read", "size", "out_of_sync"),
    BROKER: ("records", "bytes", "size", "leaders", "out_of_sync"),
    GROUP: ("lag", "behind", "arriving", "members"),
    API: ("requests", "p50", "p95", "p99"),
    SERVER: ("latency", "connections", "znodes"),
    PROCESS: ("cpu", "memory", "restarts"),
    STREAM: ("arriving", "processed", "lag", "batch"),
    CONNECTOR: ("running", "failed", "lag"),
    MIRROR: ("records", "lag", "behind"),
    DELIVERY: ("delivered", "again", "p50", "p95", "p99"),
}


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


#: What of a longer time is told in one point, where it is not the mean: no moment of trouble is lost in one.
_TOLD: MappingProxyType[str, Callable[[Sequence[float]], float]] = MappingProxyType(
    {
        "out_of_sync": max,
        "leaderless": max,
        "brokers": min,
        "p99": max,
        "restarts": max,
        "failed": max,
        "running": min,
        "delivered": min,
        "again": max,
    }
)


def told_by(measure: str) -> Callable[[Sequence[float]], float]:
    return _TOLD.get(measure, mean)


class Reading(NamedTuple):
    """What is known of one object now, None where nothing is."""

    kind: str
    name: str
    values: tuple[float | None, ...]
