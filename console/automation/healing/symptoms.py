"""Which troubles there are that have a remedy, and why nothing is said of the others. Pure.

What looks like one broker's trouble and is more than that (a rack, a network, a restart by plan) is held back with a
sentence: to copy replicas about would add to it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from console.automation.healing.kinds import TroubleKind, TroubleRule
from console.cluster.placement.sentences import count_of, ids

#: What was seen longer ago says nothing about now.
FRESH_MS = 15_000
#: Who came back within that has not shown yet that it stays.
CALM_MS = 300_000
#: Less than that of traffic makes no broker hot: bytes a second.
HOT_FROM = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSymptoms:
    """`changed_at_ms`: when it came or went. `preferred_elsewhere`: partitions it should lead and does not."""

    broker_id: int
    rack: str = ""
    is_registered: bool = True
    changed_at_ms: int = 0
    is_flapping: bool = False
    #: Somebody has stopped its process here.
    is_stopped_by_wish: bool = False
    replicas: int = 0
    preferred: int = 0
    preferred_elsewhere: int = 0
    disk_used_percent: float | None = None
    bytes_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealingFacts:
    """`operation`: what long change of processes is under way; `moving`: partitions are on the move."""

    now_ms: int
    seen_at_ms: int
    brokers: tuple[BrokerSymptoms, ...] = ()
    #: Partitions that lack a replica in sync, or a leader.
    lacking: int = 0
    operation: str = ""
    moving: bool = False
    error: str = ""

    @property
    def is_blind(self) -> bool:
        return bool(self.error) or not 0 <= self.now_ms - self.seen_at_ms <= FRESH_MS

    @property
    def missing(self) -> list[BrokerSymptoms]:
        return [broker for broker in self.brokers if not broker.is_registered]


@dataclass(frozen=True, slots=True)
class Symptom:
    """`cause` names the trouble as long as it lasts; `subject` is the broker it is about, None for all of them."""

    kind: TroubleKind
    cause: str
    sentence: str
    subject: int | None = None


@dataclass(frozen=True, slots=True)
class SeenSymptoms:
    symptoms: tuple[Symptom, ...] = ()
    #: Why nothing of this kind is proposed, where there would be something to say.
    held: Mapping[TroubleKind, str] = field(default_factory=dict)


def look(facts: HealingFacts, rules: Mapping[TroubleKind, TroubleRule]) -> SeenSymptoms:
    """Return what is wrong now, for every mode and duration. Do not call while `facts.is_blind`."""
    if facts.operation:
        return SeenSymptoms(
            held=dict.fromkeys(TroubleKind, f"{facts.operation} is under way: what it does is no trouble.")
        )
    gone, why_not = _gone(facts)
    present = list(gone)
    held = {TroubleKind.BROKER_GONE: why_not} if why_not else {}
    unsettled = _why_unsettled(facts)
    for kind, judge in ((TroubleKind.LEADERS, _leaders), (TroubleKind.DISK, _disks), (TroubleKind.HOT, _hot)):
        symptoms = list(judge(facts, rules[kind]))
        if symptoms and unsettled:
            held[kind] = unsettled
        else:
            present += symptoms
    return SeenSymptoms(tuple(present), held)


def _why_unsettled(facts: HealingFacts) -> str:
    """Return why the cluster is unsettled: during failures or moves nothing is balanced."""
    if facts.missing:
        return f"{_brokers(facts.missing)} away: what is uneven may be so by that."
    if facts.lacking:
        return f"{count_of(facts.lacking, 'partition')} short of replicas in sync or of a leader: those come first."
    if facts.moving:
        return "Partitions are being reassigned: any imbalance is judged when they have arrived."
    return ""


def _gone(facts: HealingFacts) -> tuple[list[Symptom], str]:
    missing = [partition for partition in facts.missing if partition.replicas]
    if not missing:
        return [], ""
    if len(facts.missing) * 2 >= len(facts.brokers):
        return [], f"{_brokers(missing)} away, half of all or more: so few cannot carry what the others held."
    rack = _lost_rack(facts)
    if rack:
        return [], f"Every broker of rack {rack} is away: that is a rack, not a broker, and comes back as one."
    wanted = [item for item in missing if item.is_stopped_by_wish]
    symptoms = [
        Symptom(
            TroubleKind.BROKER_GONE,
            f"broker {broker.broker_id} gone",
            f"Broker {broker.broker_id} is away and holds {count_of(broker.replicas, 'replica')}.",
            broker.broker_id,
        )
        for broker in missing
        if not broker.is_stopped_by_wish
    ]
    why = f"{_brokers(wanted)} stopped by hand: start it, or drain and remove it." if wanted else ""
    return symptoms, why


def _lost_rack(facts: HealingFacts) -> str:
    """Return the rack whose brokers are all away, if it has several and there are other racks."""
    racks = Counter(broker.rack for broker in facts.brokers if broker.rack)
    away = Counter(seen.rack for seen in facts.missing if seen.rack)
    lost = [rack for rack, count in away.items() if count == racks[rack] and count > 1]
    return lost[0] if lost and len(racks) > 1 else ""


def _leaders(facts: HealingFacts, rule: TroubleRule) -> Iterable[Symptom]:
    """Yield leader imbalances of brokers that have been up for a while: one that may leave again gets none."""
    behind = [
        broker
        for broker in facts.brokers
        if is_calm(broker, facts.now_ms)
        and broker.preferred_elsewhere
        and broker.preferred_elsewhere * 100 > rule.limit * broker.preferred
    ]
    if behind:
        count = count_of(sum(seen.preferred_elsewhere for seen in behind), "partition")
        where = f"broker{'' if len(behind) == 1 else 's'} {ids(name.broker_id for name in behind)}"
        yield Symptom(TroubleKind.LEADERS, "leaders", f"{count} preferred on {where} led by others.")


def _disks(facts: HealingFacts, rule: TroubleRule) -> Iterable[Symptom]:
    brokers = [broker for broker in facts.brokers if broker.is_registered and broker.disk_used_percent is not None]
    for seen in brokers:
        used = seen.disk_used_percent or 0.0
        if used > rule.limit and len(brokers) > 1 and min(one.disk_used_percent or 0.0 for one in brokers) < rule.limit:
            sentence = f"A disk of broker {seen.broker_id} is {used:.0f} % used, more than {rule.limit} %."
            yield Symptom(TroubleKind.DISK, f"disk of broker {seen.broker_id}", sentence, seen.broker_id)


def _hot(facts: HealingFacts, rule: TroubleRule) -> Iterable[Symptom]:
    rates = {broker.broker_id: broker.bytes_per_second or 0.0 for broker in facts.brokers if broker.is_registered}
    mean = sum(rates.values()) / len(rates) if rates else 0.0
    for broker_id, rate in rates.items():
        if rate >= HOT_FROM and rate * 100 > rule.limit * mean:
            sentence = f"Broker {broker_id} takes {rate / mean:.1f} times what brokers take on the average."
            yield Symptom(TroubleKind.HOT, f"broker {broker_id} hot", sentence, broker_id)


def is_calm(broker: BrokerSymptoms, now_ms: int) -> bool:
    return broker.is_registered and not broker.is_flapping and now_ms - broker.changed_at_ms >= CALM_MS


def _brokers(brokers: Iterable[BrokerSymptoms]) -> str:
    broker_ids = [broker.broker_id for broker in brokers]
    return f"Broker{'' if len(broker_ids) == 1 else 's'} {ids(broker_ids)} {'is' if len(broker_ids) == 1 else 'are'}"
