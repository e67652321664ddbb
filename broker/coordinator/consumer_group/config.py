"""What an operator may set about consumer groups: Kafka's keys with Kafka's defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class MigrationPolicy(Enum):
    """Which groups with members may change between the classic and the consumer protocol; Kafka's names."""

    DISABLED = "disabled"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    BIDIRECTIONAL = "bidirectional"

    @property
    def allows_upgrade(self) -> bool:
        return self in (MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL)

    @property
    def allows_downgrade(self) -> bool:
        return self in (MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupConfig:
    """Each attribute is the broker property of the same name, dots for underscores."""

    #: Silence after which a member is removed, and how often it is told to send a heartbeat.
    group_consumer_session_timeout_ms: int = 45_000
    group_consumer_heartbeat_interval_ms: int = 5_000
    #: Members one group may have. What they take in memory is bounded besides.
    group_consumer_max_size: int = 2**31 - 1
    #: Names of assignors that members may ask for; the first is that of a group whose members do not.
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    #: Shortest time between two assignments of a group (KIP-1263): members that come together are assigned together.
    group_consumer_assignment_interval_ms: int = 1_000
    #: How often patterns are matched again though no topic changed: clients may see others by now.
    group_consumer_regex_refresh_interval_ms: int = 600_000
    group_consumer_migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    #: Members that a group may have when it becomes a classic one: `group.max.size`.
    group_max_size: int = 1_000
    #: By group, what is set for it: values by key, such as `consumer.session.timeout.ms`. It changes meanwhile.
    of_groups: Mapping[str, Mapping[str, int]] = field(default_factory=dict, compare=False)

    def session_timeout_ms(self, group_id: str) -> int:
        return self._of_group(group_id, "consumer.session.timeout.ms", self.group_consumer_session_timeout_ms)

    def heartbeat_interval_ms(self, group_id: str) -> int:
        return self._of_group(group_id, "consumer.heartbeat.interval.ms", self.group_consumer_heartbeat_interval_ms)

    def assignment_interval_ms(self, group_id: str) -> int:
        return self._of_group(group_id, "consumer.assignment.interval.ms", self.group_consumer_assignment_interval_ms)

    def _of_group(self, group_id: str, key: str, otherwise: int) -> int:
        values = self.of_groups.get(group_id)
        return otherwise if values is None else values.get(key, otherwise)
