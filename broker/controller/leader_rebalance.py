"""Leadership goes back to the preferred replicas by itself, where too much of it has drifted away.

A broker that was away leads nothing when it returns. Once its share of partitions that prefer it and are led elsewhere
is above the allowed percentage, it gets them back; partitions on the move are left alone.
"""

from dataclasses import dataclass

from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, WriteStates
from broker.controller.election import preferred_state

#: How long after an election the first check waits; Kafka's value.
FIRST_CHECK_MS = 5_000


@dataclass(frozen=True, slots=True)
class RebalanceSettings:
    """`auto.leader.rebalance.enable` and the two `leader.imbalance.…` settings."""

    is_enabled: bool = True
    check_interval_ms: int = 300_000
    imbalance_percentage: int = 10


class LeaderRebalance:
    """Knows when it is time to look."""

    def __init__(self, settings: RebalanceSettings):
        self._settings = settings
        self._next_check_ms = 0

    def begin(self, now_ms: int) -> None:
        """Begin a controller epoch at `now_ms`."""
        self._next_check_ms = now_ms + FIRST_CHECK_MS

    def tick(self, context: ControllerContext, now_ms: int) -> list[ControllerEffect]:
        if not self._settings.is_enabled or now_ms < self._next_check_ms:
            return []
        self._next_check_ms = now_ms + self._settings.check_interval_ms
        wanted = {}
        for led_elsewhere in _too_much_led_elsewhere(context, self._settings.imbalance_percentage):
            for partition in led_elsewhere:
                elected = _elect(context, partition)
                if elected is not None:
                    wanted[partition] = elected
        return [WriteStates(wanted)] if wanted else []


def _too_much_led_elsewhere(context: ControllerContext, percentage: int) -> list[list[TopicPartition]]:
    """Return for each live broker that leads too few of the partitions that prefer it, those it does not lead."""
    preferring: dict[int, list[TopicPartition]] = {broker_id: [] for broker_id in sorted(context.brokers)}
    for partition in context.all_partitions():
        preferred = context.assignment(partition)[0]
        if preferred in preferring and partition in context.states:
            preferring[preferred].append(partition)
    elsewhere = {
        broker_id: [partition for partition in partitions if context.states[partition].leader != broker_id]
        for broker_id, partitions in preferring.items()
    }
    return [
        partitions
        for broker_id, partitions in elsewhere.items()
        if 100 * len(partitions) > percentage * len(preferring[broker_id])
    ]


def _elect(context: ControllerContext, partition: TopicPartition) -> LeaderAndIsr | None:
    if context.replica_assignment(partition).is_reassigning:
        return None
    assignment, state = context.assignment(partition), context.states[partition]
    online, full = context.online_replicas(partition), context.full_hosts(partition)
    return preferred_state(assignment, state, online, context.controller_epoch, full)
