"""One broker's replication: both ends of it, and whoever waits for what it brings."""

import random
from collections.abc import Callable

from broker.common.clock import Clock
from broker.config.broker import BrokerConfig
from broker.net.dialer import Dialer
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.delayed_produces import DelayedProduces
from broker.runtime.replication.fetch_requests import FetchSettings
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.isr_updater import IsrUpdater
from broker.runtime.replication.record_deletions import RecordDeletions
from broker.runtime.replication.replica_fetchers import ReplicaFetchers
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.replication_quotas import ReplicationQuotas
from broker.server.replication_metrics import ReplicationMetrics
from broker.zookeeper.store import ClusterStore


class Replication:
    """Follows and feeds as `replicas` has it from its creation; from `start` to `stop` ISRs shrink by time."""

    def __init__(
        self,
        config: BrokerConfig,
        configs: BrokerConfigs,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        store: ClusterStore,
        address_of: Callable[[int], tuple[str, int] | None],
        dialer: Dialer,
        clock: Clock,
        keeps_eligible: Callable[[], bool],
    ):
        self._config = config
        quotas = ReplicationQuotas(replicas, config, clock)
        self.feeds = FollowerFeeds(replicas, quotas.leading, random_session_id, clock)
        self.isr = IsrUpdater(replicas, store, metadata.is_live, config.replica_lag_time_max_ms, clock, keeps_eligible)
        self.feeds.on_progress = self.isr.consider
        self.delayed_produces = DelayedProduces(replicas, clock)
        self.deletions = RecordDeletions(replicas, metadata.is_live, clock)
        self.feeds.on_log_start = self.deletions.on_news
        self._fetchers = ReplicaFetchers(replicas, quotas.following, address_of, dialer, _fetch_settings(config), clock)
        self.metrics = ReplicationMetrics(replicas, self.feeds, self._fetchers, self.delayed_produces, self.isr)
        configs.on_changed += [quotas.reconfigure, self._set_lag]

    def _set_lag(self) -> None:
        self.isr.lag_ms_max = self._config.replica_lag_time_max_ms

    def start(self) -> None:
        self.isr.start()

    async def stop(self) -> None:
        await self.isr.stop()
        for part in (self._fetchers, self.feeds, self.delayed_produces, self.deletions):
            part.close()


def random_session_id() -> int:
    return random.randint(1, 2**31 - 1)


def _fetch_settings(config: BrokerConfig) -> FetchSettings:
    return FetchSettings(
        broker_id=config.broker_id,
        max_wait_ms=config.replica_fetch_wait_max_ms,
        max_bytes=config.replica_fetch_response_max_bytes,
        max_bytes_per_partition=config.replica_fetch_max_bytes,
        back_off_ms=config.replica_fetch_backoff_ms,
        silence_ms_max=max(config.replica_socket_timeout_ms, 2 * config.replica_fetch_wait_max_ms),
        frame_bytes_max=config.replica_fetch_response_max_bytes + config.socket_request_max_bytes,
    )
