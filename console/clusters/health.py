"""Is the cluster well, and if not, why: reasons first, the worst on top. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

#: A topic's name may have 249 characters; a reason is one sentence.
NAME_LENGTH_MAX = 40


class Level(StrEnum):
    """The word that stands beside the colour is `label`."""

    UNKNOWN = "unknown"
    OK = "ok"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def label(self) -> str:
        return {"unknown": "No data yet", "ok": "Healthy", "warning": "Degraded", "critical": "Broken"}[self.value]


@dataclass(frozen=True, slots=True)
class TroubledPartition:
    """A partition without a leader, or with replicas out of sync."""

    topic: str
    has_leader: bool
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    is_seen: bool
    brokers_error: str = ""
    topics_error: str = ""
    controller_id: int | None = None
    missing: frozenset[int] = frozenset()
    troubled: tuple[TroubledPartition, ...] = ()
    #: address → error of the ZooKeeper servers that do not serve; how many there are in all.
    zookeeper_errors: dict[str, str] = field(default_factory=dict)
    zookeeper_count: int = 0


@dataclass(frozen=True, slots=True)
class Reason:
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class Health:
    level: Level
    reasons: tuple[Reason, ...]


def assess(facts: Facts) -> Health:
    """The worst level of all reasons; OK without any."""
    reasons = sorted(_reasons(facts), key=lambda reason: list(Level).index(reason.level), reverse=True)
    if reasons:
        return Health(reasons[0].level, tuple(reasons))
    return Health(Level.OK if facts.is_seen else Level.UNKNOWN, ())


def _reasons(facts: Facts) -> Iterable[Reason]:
    yield from _zookeeper_reasons(facts)
    if facts.brokers_error:
        yield Reason(Level.CRITICAL, f"The brokers cannot be asked: {facts.brokers_error}")
    elif facts.topics_error:
        yield Reason(Level.CRITICAL, f"The topics cannot be read: {facts.topics_error}")
    if facts.is_seen and not facts.brokers_error and facts.controller_id is None:
        yield Reason(Level.CRITICAL, "There is no controller: topics cannot be created and no leader can be elected.")
    for broker_id in sorted(facts.missing):
        yield _missing_broker(broker_id, [each for each in facts.troubled if broker_id in each.replicas])
    yield from _other_partitions([each for each in facts.troubled if not facts.missing.intersection(each.replicas)])


def _zookeeper_reasons(facts: Facts) -> Iterable[Reason]:
    down_count = len(facts.zookeeper_errors)
    has_quorum = down_count * 2 < facts.zookeeper_count
    level = Level.WARNING if has_quorum else Level.CRITICAL
    meaning = "" if has_quorum else ": no broker can join and no leader can be elected until it is back"
    for address, error in sorted(facts.zookeeper_errors.items()):
        yield Reason(level, f"ZooKeeper {address} {error}{meaning}.")


def _missing_broker(broker_id: int, troubled: list[TroubledPartition]) -> Reason:
    leaderless = [each for each in troubled if not each.has_leader]
    lagging = [each for each in troubled if each.has_leader and broker_id not in each.isr]
    effects = []
    if leaderless:
        effects.append(f"{_partitions(leaderless)} {_has(leaderless)} no leader")
    if lagging:
        effects.append(f"{_partitions(lagging)} {_is(lagging)} under-replicated")
    text = f"Broker {broker_id} is not registered"
    text += f": {'; '.join(effects)}." if effects else "."
    return Reason(Level.CRITICAL if leaderless else Level.WARNING, text)


def _other_partitions(troubled: list[TroubledPartition]) -> Iterable[Reason]:
    leaderless = [each for each in troubled if not each.has_leader]
    lagging = [each for each in troubled if each.has_leader]
    if leaderless:
        text = f"{_partitions(leaderless)} {_has(leaderless)} no leader, though every replica's broker is registered."
        yield Reason(Level.CRITICAL, text)
    if lagging:
        yield Reason(
            Level.WARNING, f"{_partitions(lagging)} {_is(lagging)} under-replicated: a replica is out of sync."
        )


def _partitions(partitions: list[TroubledPartition]) -> str:
    """`3 partitions of orders`, or `5 partitions of orders, payments and 2 other topics`."""
    topics = sorted({each.topic for each in partitions}, key=lambda name: (name.startswith("__"), name))
    names = [name if len(name) <= NAME_LENGTH_MAX else f"{name[:NAME_LENGTH_MAX]}…" for name in topics[:2]]
    noun = "partition" if len(partitions) == 1 else "partitions"
    if len(topics) <= 2:
        return f"{len(partitions)} {noun} of {' and '.join(names)}"
    others = len(topics) - 2
    return f"{len(partitions)} {noun} of {', '.join(names)} and {others} other topic{'s' if others > 1 else ''}"


def _has(partitions: list) -> str:
    return "has" if len(partitions) == 1 else "have"


def _is(partitions: list) -> str:
    return "is" if len(partitions) == 1 else "are"
