"""What each broker has beside an even share of leaders and replicas."""

from dataclasses import dataclass

from console.cluster.brokers.state_names import with_state_names
from console.kit.access.reach import EVERYTHING, Reach
from console.state.clusters.models import Broker


@dataclass(frozen=True, slots=True)
class Balance:
    """A broker beside what it would have if everything were spread evenly over the registered brokers."""

    broker: Broker
    leader_skew: int | None
    replica_skew: int | None
    #: Of the leaders of all partitions, percent.
    leader_share: float
    #: Of the partitions whose first replica it holds, those it leads, percent; None if there are none.
    preferred_share: float | None


def balances(reach: Reach = EVERYTHING) -> list[Balance]:
    brokers = with_state_names(Broker.objects.all(), reach)
    registered = sum(broker.is_registered for broker in brokers)
    leaders = sum(broker.leader_count for broker in brokers)
    replicas = sum(broker.replica_count for broker in brokers)
    return [
        Balance(
            broker,
            _skew(broker.leader_count, leaders, registered) if broker.is_registered else None,
            _skew(broker.replica_count, replicas, registered) if broker.is_registered else None,
            100 * broker.leader_count / leaders if leaders else 0.0,
            100 * broker.preferred_led_count / broker.preferred_count if broker.preferred_count else None,
        )
        for broker in brokers
    ]


def _skew(count: int, total: int, broker_count: int) -> int | None:
    """Return percent above (or below) an even share; None if there is nothing to share."""
    return round(100 * (count * broker_count - total) / total) if total else None
