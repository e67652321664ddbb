"""Whether a proposal may be carried out without a person, and which moves never are. Pure.

One thing at a time, with a rest behind it; and each cause once a day, for what comes back after it was healed wants
somebody who thinks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.automation.healing.kinds import HealingMode, TroubleKind, TroubleRule
from console.automation.healing.symptoms import HealingFacts
from console.kit.gateway.groups.interface import TopicPartition

COOL_DOWN_MS = 30 * 60_000
AGAIN_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class TriedRemedy:
    """What was tried without a person, and when."""

    cause: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class InSync:
    """A partition's in-sync replicas, and how many acks=all needs."""

    isr: tuple[int, ...]
    needed: int


def why_not_act(rule: TroubleRule, cause: str, facts: HealingFacts, tried: Iterable[TriedRemedy]) -> str:
    """Return why the remedy may not be carried out now; empty if it may."""
    if rule.mode is not HealingMode.ACT:
        return "A person decides."
    tried = list(tried)
    if any(symptom.cause == cause and facts.now_ms - symptom.at_ms < AGAIN_MS for symptom in tried):
        return "It was healed without a person within a day and is back, or could not be: now a person decides."
    if facts.is_blind:
        return "Waits: the cluster cannot be seen."
    if facts.operation:
        return f"Waits: {facts.operation} is under way."
    if facts.moving:
        return "Waits: partitions are being reassigned."
    if any(facts.now_ms - item.at_ms < COOL_DOWN_MS for item in tried):
        return f"Waits: something else was healed within {COOL_DOWN_MS // 60_000} minutes."
    if any(broker.is_flapping for broker in facts.brokers):
        return "Waits: a broker comes and goes."
    missing = len(facts.missing)
    if missing > (1 if rule.kind is TroubleKind.BROKER_GONE else 0):
        return f"{missing} brokers are away at once: a person decides." if missing > 1 else "Waits: a broker is away."
    return ""


def why_unsafe(
    targets: Mapping[TopicPartition, tuple[int, ...]],
    in_sync: Mapping[TopicPartition, InSync],
    alive: frozenset[int],
) -> dict[TopicPartition, str]:
    """Return the partitions to leave alone, with the reason: none goes below its minimum or loses its last copy.

    A partition whose records are on a broker that is away, and nowhere else, waits for that broker.
    """
    reasons = {}
    for place, target in targets.items():
        state = in_sync.get(place)
        there = set(state.isr) & alive if state else set()
        if not state or not there:
            reasons[place] = "Its records are on brokers that are away, and nowhere else."
        elif len(target) < state.needed or not set(target) <= alive:
            reasons[place] = "It would have fewer replicas than acks=all needs."
        elif len(there) < state.needed and not there <= set(target):
            reasons[place] = "It is below its minimum, so none of its replicas in sync is moved."
    return reasons
