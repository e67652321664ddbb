"""Who breaks which rule now, in words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from console.cluster.charts.measures import (
    API,
    BROKER,
    CLUSTER,
    CONNECTOR,
    DELIVERY,
    GROUP,
    KINDS,
    MEASURES,
    MIRROR,
    NAME_LENGTH_MAX,
    PROCESS,
    SERVER,
    STREAM,
    TOPIC,
    Reading,
)
from console.kit.common.any_name import AnyNameConverter
from console.signals.alerts.rules import AlertRule, Ruleset
from console.signals.overview.health import Health, HealthLevel, HealthReason

#: Of one rule; whoever has more has one trouble, and not thousands.
OBJECTS_MAX = 500
CLUSTER_NAME = "the cluster"
#: Below where the console is.
_HEALTH_LINK = ""


@dataclass(frozen=True, slots=True)
class AlertCondition:
    """`is_bad` None: unknown. The sentence describes the present."""

    rule: str
    object_name: str
    is_bad: bool | None
    sentence: str = ""
    link: str = ""


def conditions(
    ruleset: Ruleset,
    readings: Iterable[Reading],
    health: Health,
    firing: Mapping[tuple[str, str], object],
    *,
    is_starting: bool = False,
) -> Iterator[AlertCondition]:
    """Yield conditions of every rule and object that breaks it, or did: `firing` are those that do so far, by rule and
    object.

    `is_starting`: the collector has not read the cluster since its start, so an unknown state breaks no rule yet.
    """
    by_kind: dict[str, list[AlertRule]] = {}
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
            yield from _of_health(rule, rule.health, health, is_starting=is_starting)


def _of_reading(rule: AlertRule, reading: Reading, name: str, *, was_bad: bool) -> AlertCondition:
    value = reading.values[KINDS[reading.kind].index(rule.measure)]
    if value is None:
        return AlertCondition(rule.name, name, None)
    is_bad = rule.is_bad(float(value), was_bad=was_bad)
    return AlertCondition(
        rule.name, name, is_bad, _sentence(rule, name, float(value)), _OBJECTS[reading.kind].link(reading.name)
    )


def _of_health(rule: AlertRule, least: HealthLevel, health: Health, *, is_starting: bool) -> Iterator[AlertCondition]:
    """Yield conditions of a health rule; an unknown state breaks every rule, as it may be the worst."""
    levels = list(HealthLevel)
    for reason in health.reasons:
        if reason.level is HealthLevel.UNKNOWN or levels.index(reason.level) >= levels.index(least):
            is_bad = None if is_starting and reason.level is HealthLevel.UNKNOWN else True
            yield AlertCondition(
                rule.name, _name_of(reason), is_bad, f"{reason.text} {reason.action.text}.", _HEALTH_LINK
            )


def _name_of(reason: HealthReason) -> str:
    """Return a name that is the same as long as the trouble is the same."""
    return (reason.key or reason.subject)[:NAME_LENGTH_MAX]


class _Objects(NamedTuple):
    """The objects of a kind: the words before a name, and the page below the cluster's that charts the named one."""

    label: str
    link: Callable[[str], str]


def _in_url(name: str) -> str:
    return quote(AnyNameConverter().to_url(name))


_OBJECTS = {
    CLUSTER: _Objects("", lambda name: "charts/"),
    TOPIC: _Objects("Topic ", lambda name: f"topics/{quote(name, safe='')}/+charts/"),
    BROKER: _Objects("Broker ", lambda name: f"brokers/{name}/charts/"),
    GROUP: _Objects("Consumer group ", lambda name: f"consumers/{_in_url(name)}/+charts/"),
    API: _Objects("Broker and API ", lambda name: f"brokers/{name.partition('/')[0]}/charts/"),
    SERVER: _Objects("ZooKeeper ", lambda name: f"zookeeper/+charts/{quote(name, safe='')}/"),
    PROCESS: _Objects("Process ", lambda name: f"processes/{name}/+charts/"),
    STREAM: _Objects("Stream ", lambda name: f"streams/{name}/+charts/"),
    CONNECTOR: _Objects("Connector ", lambda name: f"connectors/{_in_url(name)}/+charts/"),
    MIRROR: _Objects("Mirror ", lambda name: "mirrors/"),
    DELIVERY: _Objects(
        "Delivery of ", lambda name: f"completeness/{quote(name.partition('/')[0], safe='')}/+delivery/"
    ),
}


def _sentence(rule: AlertRule, name: str, value: float) -> str:
    subject = f"{_OBJECTS[rule.kind].label}{name}" if rule.kind != CLUSTER else "The cluster"
    is_what = "above" if rule.is_above else "below"
    measure = MEASURES[rule.measure]
    says = measure.says.format(measure.amount(value))
    if rule.kind == DELIVERY:
        says = says.replace("of the requests", "of the records")
    return f"{subject} {says}, {is_what} {measure.amount(rule.threshold)}."
