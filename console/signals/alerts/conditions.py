"""Who breaks which rule now, in words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from console.cluster.charts.measures import (
    API,
    BROKER,
    CLUSTER,
    CONNECTOR,
    DELIVERY,
    GROUP,
    KINDS,
    MIRROR,
    NAME_LENGTH_MAX,
    PROCESS,
    SERVER,
    STREAM,
    TOPIC,
    Reading,
)
from console.kit.common.any_name import AnyNameConverter
from console.kit.common.figures import byte_size, duration, grouped, milliseconds, rate, size
from console.signals.alerts.rules import Rule, Ruleset
from console.signals.overview.health import Health, Level, Reason

#: Of one rule; whoever has more has one trouble, and not thousands.
OBJECTS_MAX = 500
CLUSTER_NAME = "the cluster"
#: Below where the console is.
_HEALTH_LINK = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """`is_bad` None: nobody knows. The sentence says how it is now."""

    rule: str
    object_name: str
    is_bad: bool | None
    sentence: str = ""
    link: str = ""


def conditions(
    ruleset: Ruleset, readings: Iterable[Reading], health: Health, firing: Mapping[tuple[str, str], object]
) -> Iterator[Condition]:
    """Of every rule and object that breaks it, or did: `firing` are those that do so far, by rule and object."""
    by_kind: dict[str, list[Rule]] = {}
    for rule in ruleset.rules.values():
        if rule.health is None:
            by_kind.setdefault(rule.kind, []).append(rule)
    for reading in readings:
        for rule in by_kind.get(reading.kind, ()):
            name = reading.name or CLUSTER_NAME
            if rule.fits(name) or reading.kind == CLUSTER:
                yield _of_reading(rule, reading, name, was_bad=(rule.name, name) in firing)
    for rule in ruleset.rules.values():
        if rule.health is not None:
            yield from _of_health(rule, rule.health, health)


def _of_reading(rule: Rule, reading: Reading, name: str, *, was_bad: bool) -> Condition:
    value = reading.values[KINDS[reading.kind].index(rule.measure)]
    if value is None:
        return Condition(rule.name, name, None)
    is_bad = rule.is_bad(float(value), was_bad=was_bad)
    return Condition(rule.name, name, is_bad, _sentence(rule, name, float(value)), _link(reading.kind, reading.name))


def _of_health(rule: Rule, least: Level, health: Health) -> Iterator[Condition]:
    levels = list(Level)
    for reason in health.reasons:
        if levels.index(reason.level) >= levels.index(least):
            yield Condition(rule.name, _name_of(reason), True, f"{reason.text} {reason.action.text}.", _HEALTH_LINK)


def _name_of(reason: Reason) -> str:
    """The same as long as it is the same trouble."""
    return (reason.key or reason.subject)[:NAME_LENGTH_MAX]


_WORDS = {
    "records": "takes {} records a second", "bytes": "takes {} a second", "read": "is read at {} records a second",
    "lag": "has {} records not read", "behind": "is behind by {}", "arriving": "gets {} records a second",
    "members": "has {} members", "size": "holds {}", "out_of_sync": "has {} partitions out of sync",
    "leaderless": "has {} partitions without a leader", "brokers": "has {} brokers", "leaders": "leads {} partitions",
    "requests": "gets {} requests a second", "p50": "takes {} for half of the requests",
    "p95": "takes up to {} for 95 % of the requests", "p99": "takes up to {} for 99 % of the requests",
    "latency": "answers in {}", "connections": "has {} connections", "znodes": "holds {} znodes",
    "cpu": "takes {} of a core", "memory": "takes {} of memory", "restarts": "was started again {} times",
    "processed": "processes {} records a second", "batch": "takes {} for a batch",
    "delivered": "has come to {} of what was expected", "again": "has {} records that came again",
    "running": "has running tasks: {}", "failed": "has failed tasks: {}",
}  # fmt: skip
_SAID = {
    "records": rate, "read": rate, "arriving": rate, "requests": rate, "bytes": byte_size, "size": byte_size,
    "p50": milliseconds, "p95": milliseconds, "p99": milliseconds, "latency": milliseconds,
    "processed": rate, "batch": milliseconds,
}  # fmt: skip


def amount(measure: str, value: float) -> str:
    """With its unit."""
    if measure == "behind":
        return duration(round(value))
    if measure in ("size", "memory"):
        return size(round(value))
    if measure == "delivered":
        return f"{value:.2f} %"
    if measure == "cpu":
        return f"{value:.0f} %"
    said = _SAID.get(measure)
    return said(value) if said else grouped(round(value))


def _sentence(rule: Rule, name: str, value: float) -> str:
    labels = {
        TOPIC: "Topic ",
        BROKER: "Broker ",
        GROUP: "Consumer group ",
        API: "Broker and API ",
        SERVER: "ZooKeeper ",
        PROCESS: "Process ",
        STREAM: "Stream ",
        CONNECTOR: "Connector ",
        MIRROR: "Mirror ",
        DELIVERY: "Delivery of ",
    }
    subject = f"{labels.get(rule.kind, '')}{name}" if rule.kind != CLUSTER else "The cluster"
    is_what = "above" if rule.is_above else "below"
    says = _WORDS[rule.measure].format(amount(rule.measure, value))
    if rule.kind == DELIVERY:
        says = says.replace("of the requests", "of the records")
    return f"{subject} {says}, {is_what} {amount(rule.measure, rule.threshold)}."


def _link(kind: str, name: str) -> str:
    if kind == CLUSTER:
        return "charts/"
    if kind == GROUP:
        return f"consumers/{quote(AnyNameConverter().to_url(name))}/+charts/"
    if kind == CONNECTOR:
        return f"connectors/{quote(AnyNameConverter().to_url(name))}/+charts/"
    if kind == MIRROR:
        return "mirrors/"
    if kind == DELIVERY:
        return f"completeness/{quote(name.partition('/')[0], safe='')}/+delivery/"
    if kind == API:
        return f"brokers/{name.partition('/')[0]}/charts/"
    return {
        TOPIC: f"topics/{quote(name, safe='')}/+charts/",
        BROKER: f"brokers/{name}/charts/",
        PROCESS: f"processes/{name}/+charts/",
        STREAM: f"streams/{name}/+charts/",
        SERVER: f"zookeeper/+charts/{quote(name, safe='')}/",
    }[kind]
