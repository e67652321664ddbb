"""The two throttles of this broker's replication (KIP-73), kept at what topics and the broker are configured to."""

from broker.common.clock import Clock
from broker.config.broker import BrokerConfig
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager


class ReplicationQuotas:
    """`leading` for what others copy from this broker, `following` for what it copies from others."""

    def __init__(self, replicas: ReplicaManager, config: BrokerConfig, clock: Clock):
        self._config = config
        self._clock = clock
        self.leading = ReplicationThrottle(config.broker_id, config.leader_replication_throttled_rate)
        self.following = ReplicationThrottle(config.broker_id, config.follower_replication_throttled_rate)
        replicas.on_role.append(self._on_config)
        replicas.on_config.append(self._on_config)

    def reconfigure(self) -> None:
        """Apply the broker's changed configuration."""
        now_ms = self._clock.monotonic_ms()
        self.leading.set_rate(self._config.leader_replication_throttled_rate, now_ms)
        self.following.set_rate(self._config.follower_replication_throttled_rate, now_ms)

    def _on_config(self, hosted: HostedPartition) -> None:
        topic, config = hosted.partition.topic_partition.topic, hosted.log.config
        self.leading.set_topic(topic, config.leader_replication_throttled_replicas)
        self.following.set_topic(topic, config.follower_replication_throttled_replicas)
