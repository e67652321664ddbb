"""Whether one broker leads far more than its share, and what would mend it. Pure."""

from collections.abc import Collection
from dataclasses import dataclass

from console.state.clusters.models import Broker

#: Above the even share: both, for of a few partitions a share says little.
SKEWED_TIMES, SKEWED_PARTITIONS = 1.5, 5
#: After a broker came or went: brokers give leadership back every five minutes, and a check takes a while.
GRACE_MS = 360_000


@dataclass(frozen=True, slots=True)
class LeaderSkew:
    """The broker that leads most. `misplaced`: partitions that another than their preferred replica leads."""

    broker_id: int
    leads: int
    total: int
    times_even: float
    misplaced: int
    #: Whether an election of preferred leaders spreads them; else their replicas have to be spread.
    is_mended_by_election: bool


def leader_skew(brokers: Collection[Broker], at_ms: int) -> LeaderSkew | None:
    """Return None where leaders are spread, and while brokers come and go: leaders follow them by themselves."""
    if len(brokers) < 2 or any(not item.is_registered or at_ms - item.changed_at_ms < GRACE_MS for item in brokers):
        return None
    total = sum(broker.leader_count for broker in brokers)
    even = total / len(brokers)
    most = max(brokers, key=lambda broker: broker.leader_count)
    if not _is_skewed(most.leader_count, even):
        return None
    return LeaderSkew(
        most.broker_id,
        most.leader_count,
        total,
        most.leader_count / even,
        sum(broker.preferred_count - broker.preferred_led_count for broker in brokers),
        not _is_skewed(max(broker.preferred_count for broker in brokers), even),
    )


def _is_skewed(count: int, even: float) -> bool:
    return count >= SKEWED_TIMES * even and count >= even + SKEWED_PARTITIONS
