"""What an operator may set about consumer groups: Kafka's keys with Kafka's defaults."""

from dataclasses import dataclass


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
