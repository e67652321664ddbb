"""What Prometheus is told of replication, under the names an operator of Kafka would look for."""

from collections.abc import Iterable, Iterator

from prometheus_client.core import Metric

from broker.runtime.replication.delayed_produces import DelayedProduces
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.isr_updater import IsrUpdater
from broker.runtime.replication.replica_fetchers import ReplicaFetchers
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.server.metric_families import counter, gauge


class ReplicationMetrics:
    """Read from the components at each scrape."""

    def __init__(
        self,
        replicas: ReplicaManager,
        feeds: FollowerFeeds,
        fetchers: ReplicaFetchers,
        delayed_produces: DelayedProduces,
        isr: IsrUpdater,
    ):
        self._replicas = replicas
        self._feeds = feeds
        self._fetchers = fetchers
        self._delayed_produces = delayed_produces
        self._isr = isr

    def collect(self) -> Iterable[Metric]:
        led = [replica for replica in self._replicas if replica.partition.is_leader]
        yield gauge(
            "under_replicated_partitions",
            "Partitions led with fewer replicas in sync than assigned.",
            sum(
                len(state.isr) < len(state.replicas)
                for partition in led
                if (state := partition.partition.state) is not None
            ),
        )
        yield gauge(
            "under_min_isr_partitions",
            "Partitions led with fewer replicas in sync than min.insync.replicas: acks=all is refused.",
            sum(partition.partition.is_under_min_isr for partition in led),
        )
        yield gauge(
            "replica_lag_max",
            "Records the in-sync follower furthest behind lacks, of all partitions led.",
            max((lag for partition in led for lag in _lags(partition)), default=0),
        )
        yield gauge("followers_fed", "Brokers that follow this one.", len(self._feeds))
        yield gauge("leaders_followed", "Brokers this one follows.", len(self._fetchers))
        yield gauge(
            "partitions_awaiting_acks", "Partitions an acks=all request waits for.", len(self._delayed_produces)
        )
        yield counter("isr_shrinks", "Followers counted out of an ISR by this leader.", self._isr.shrinks)
        yield counter("isr_expands", "Followers counted into an ISR by this leader.", self._isr.expands)


def _lags(hosted: HostedPartition) -> Iterator[int]:
    partition = hosted.partition
    for replica_id, follower in partition.followers.items():
        if partition.state is not None and replica_id in partition.state.isr and follower.log_end_offset >= 0:
            yield partition.log_end_offset - follower.log_end_offset
