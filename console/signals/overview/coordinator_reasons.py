"""Troubles of the coordinators of groups and transactions as sentences. Pure."""

from collections.abc import Iterable, Sequence

from console.signals.overview.health import HealthLevel, HealthReason, UnloadedCoordinators
from console.signals.overview.next_action import NextAction


def unloaded_reasons(unloaded: Iterable[UnloadedCoordinators]) -> Iterable[HealthReason]:
    for coordinators in unloaded:
        stand = [
            words
            for count, words in ((coordinators.groups, "groups"), (coordinators.transactions, "transactions"))
            if count
        ]
        text = (
            f"Broker {coordinators.broker_id} cannot load coordinators it leads: the {' and '.join(stand)} they "
            "coordinate stand still."
        )
        evidence = ", ".join(
            f"{count} of {topic}"
            for count, topic in (
                (coordinators.groups, "__consumer_offsets"),
                (coordinators.transactions, "__transaction_state"),
            )
            if count
        )
        action = NextAction("Read its log for why; stopping it moves them to another replica", "processes")
        yield HealthReason(
            HealthLevel.CRITICAL,
            f"Broker {coordinators.broker_id}",
            text,
            action,
            f"Partitions not loaded: {evidence}",
            key=f"coordinators:{coordinators.broker_id}",
            weight=coordinators.groups + coordinators.transactions,
        )


def lone_topic_reasons(topics: Sequence[str]) -> Iterable[HealthReason]:
    if not topics:
        return
    verb = "has" if len(topics) == 1 else "have"
    text = (
        f"{' and '.join(topics)} {verb} one replica: when its broker is away, what it coordinates stands still, and "
        "when its disk is lost, it is lost."
    )
    action = NextAction("Add replicas, now that there are more brokers", "placement")
    evidence = "Made while there was one broker"
    yield HealthReason(
        HealthLevel.WARNING, "Coordinators", text, action, evidence, key="lone internal topics", parts=tuple(topics)
    )
