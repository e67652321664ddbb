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


class ChartMeasure(NamedTuple):
    """`says` is what an object does that has the measure, with its amount in place of {}.

    `summary` makes one point of those of a longer time: the worst where a mean would hide a moment of trouble.
    """

    says: str
    amount: Callable[[float], str] = _count
    summary: Callable[[Sequence[float]], float] = mean


MEASURES = {
    "records": ChartMeasure("takes {} records a second", rate),
    "bytes": ChartMeasure("takes {} a second", byte_size),
    "read": ChartMeasure("is read at {} records a second", rate),
    "lag": ChartMeasure("has {} records not read"),
    "behind": ChartMeasure("is behind by {}", lambda value: duration(round(value))),
    "arriving": ChartMeasure("gets {} records a second", rate),
    "members": ChartMeasure("has {} members"),
    "size": ChartMeasure("holds {}", lambda value: size(round(value))),
    "out_of_sync": ChartMeasure("has {} partitions out of sync", summary=max),
    "leaderless": ChartMeasure("has {} partitions without a leader", summary=max),
    "brokers": ChartMeasure("has {} brokers", summary=min),
    "disk_used": ChartMeasure("has used {} of a volume of its logs", "{:.0f} %".format, max),
    "leaders": ChartMeasure("leads {} partitions"),
    "requests": ChartMeasure("gets {} requests a second", rate),
    "p50": ChartMeasure("takes {} for half of the requests", milliseconds),
    "p95": ChartMeasure("takes up to {} for 95 % of the requests", milliseconds),
    "p99": ChartMeasure("takes up to {} for 99 % of the requests", milliseconds, max),
    "latency": ChartMeasure("answers in {}", milliseconds),
    "connections": ChartMeasure("has {} connections"),
    "znodes": ChartMeasure("holds {} znodes"),
    "cpu": ChartMeasure("takes {} of a core", "{:.0f} %".format),
    "memory": ChartMeasure("takes {} of memory", lambda value: size(round(value))),
    "restarts": ChartMeasure("was started again {} times", summary=max),
    "processed": ChartMeasure("processes {} records a second", rate),
    "batch": ChartMeasure("takes {} for a batch", milliseconds),
    "delivered": ChartMeasure("has come to {} of what was expected", "{:.2f} %".format, min),
    "again": ChartMeasure("has {} records that came again", summary=max),
    "running": ChartMeasure("has running tasks: {}", summary=min),
    "failed": ChartMeasure("has failed tasks: {}", summary=max),
}


class Reading(NamedTuple):
    """What is known of one object now, None where nothing is."""

    kind: str
    name: str
    values: tuple[float | None, ...]
