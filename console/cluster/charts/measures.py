"""What is measured of each kind of object, in the order in which its columns are kept. Pure."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from console.kit.common.figures import byte_size, duration, grouped, milliseconds, rate, size

#: A group's name is the longest there is; that of an API has its broker in front.
NAME_LENGTH_MAX = 512

CLUSTER, TOPIC, BROKER, GROUP, API, SERVER = "cluster", "topic", "broker", "group", "api", "zookeeper"
PROCESS, STREAM, CONNECTOR, MIRROR = "process", "stream", "connector", "mirror"
DELIVERY = "delivery"

#: Columns may be added at the end; what is kept of before has none of them.
KINDS: dict[str, tuple[str, ...]] = {
    CLUSTER: ("records", "bytes", "lag", "out_of_sync", "leaderless", "brokers"),
    TOPIC: ("records", "read", "size", "out_of_sync"),
    BROKER: ("records", "bytes", "size", "leaders", "out_of_sync", "disk_used"),
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


def _count(value: float) -> str:
    return grouped(round(value))


class Measure(NamedTuple):
    """`says` is what an object does that has the measure, with its amount in place of {}.

    `summary` makes one point of those of a longer time: the worst where a mean would hide a moment of trouble.
    """

    says: str
    amount: Callable[[float], str] = _count
    summary: Callable[[Sequence[float]], float] = mean


MEASURES = {
    "records": Measure("takes {} records a second", rate),
    "bytes": Measure("takes {} a second", byte_size),
    "read": Measure("is read at {} records a second", rate),
    "lag": Measure("has {} records not read"),
    "behind": Measure("is behind by {}", lambda value: duration(round(value))),
    "arriving": Measure("gets {} records a second", rate),
    "members": Measure("has {} members"),
    "size": Measure("holds {}", lambda value: size(round(value))),
    "out_of_sync": Measure("has {} partitions out of sync", summary=max),
    "leaderless": Measure("has {} partitions without a leader", summary=max),
    "brokers": Measure("has {} brokers", summary=min),
    "disk_used": Measure("has used {} of a volume of its logs", "{:.0f} %".format, max),
    "leaders": Measure("leads {} partitions"),
    "requests": Measure("gets {} requests a second", rate),
    "p50": Measure("takes {} for half of the requests", milliseconds),
    "p95": Measure("takes up to {} for 95 % of the requests", milliseconds),
    "p99": Measure("takes up to {} for 99 % of the requests", milliseconds, max),
    "latency": Measure("answers in {}", milliseconds),
    "connections": Measure("has {} connections"),
    "znodes": Measure("holds {} znodes"),
    "cpu": Measure("takes {} of a core", "{:.0f} %".format),
    "memory": Measure("takes {} of memory", lambda value: size(round(value))),
    "restarts": Measure("was started again {} times", summary=max),
    "processed": Measure("processes {} records a second", rate),
    "batch": Measure("takes {} for a batch", milliseconds),
    "delivered": Measure("has come to {} of what was expected", "{:.2f} %".format, min),
    "again": Measure("has {} records that came again", summary=max),
    "running": Measure("has running tasks: {}", summary=min),
    "failed": Measure("has failed tasks: {}", summary=max),
}


class Reading(NamedTuple):
    """What is known of one object now, None where nothing is."""

    kind: str
    name: str
    values: tuple[float | None, ...]
