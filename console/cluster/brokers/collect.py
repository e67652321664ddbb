"""The collector's look at each broker itself: its log directories, how fast they fill, and how it answers."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from console.cluster.brokers import store
from console.cluster.brokers.announce import BrokerAnnouncer
from console.cluster.brokers.certificates import certificates_here
from console.cluster.brokers.growth import appended_bytes
from console.cluster.brokers.latency import LatencyWindow
from console.cluster.brokers.open_files import open_files_here
from console.kit.common.databases import cluster_atomic
from console.kit.gateway.brokers.interface import BrokerGateway, ReplicaSizes, replica_sizes
from console.state.clusters.topic_rows import TopicRow
from console.state.consumers.tiers import TierContext, TierLook


class BrokerCollector:
    """`look_at_dirs` and `look_at_requests` are called from one thread each."""

    def __init__(self, gateway: BrokerGateway, clock_ms: Callable[[], int]):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._sizes: ReplicaSizes = {}
        self._sizes_at_ms = 0
        self._pages = BrokerAnnouncer()
        self._windows: dict[int, LatencyWindow] = {}
        #: Bytes appended per second, all brokers together; None until two looks could be compared.
        self.bytes_per_second: float | None = None

    def look_at_dirs(self, topics: Mapping[str, TopicRow]) -> ReplicaSizes:
        """Return the size of every replica whose broker answers."""
        log_dirs = self._gateway.log_dirs()
        at_ms = self._now_ms()
        sizes, files, certificates = replica_sizes(log_dirs), open_files_here(), certificates_here()
        with cluster_atomic():
            store.forget_unknown()
            store.save_log_dirs(log_dirs, at_ms)
            store.save_open_files(files)
            store.save_certificates(certificates)
            store.save_software(self._gateway.software())
            self._save_rates(sizes, topics, frozenset(log_dirs), at_ms)
        self._sizes, self._sizes_at_ms = sizes, at_ms
        self._pages.looked_at()
        return sizes

    def look_at_requests(self) -> None:
        request_times = self._gateway.request_times()
        at_ms = self._now_ms()
        for gone in self._windows.keys() - request_times.keys():
            del self._windows[gone]
        with cluster_atomic():
            for broker_id, times in request_times.items():
                window = self._windows.setdefault(broker_id, LatencyWindow())
                store.save_latencies(broker_id, None if times is None else window.observe(times, at_ms), at_ms)
            store.save_not_loaded(self._gateway.not_loaded())
            store.save_foreign_brokers(self._gateway.foreign_brokers())
            store.save_uncleanable(self._gateway.uncleanable())
            store.save_budget_uses(self._gateway.budget_uses(), at_ms)
        self._pages.looked_at()

    def _save_rates(
        self, sizes: ReplicaSizes, topics: Mapping[str, TopicRow], broker_ids: frozenset[int], at_ms: int
    ) -> None:
        span_ms = at_ms - self._sizes_at_ms
        if not self._sizes_at_ms or span_ms <= 0:
            return
        leaders = {
            (topic.name, partition.partition): partition.leader
            for topic in topics.values()
            for partition in topic.partitions
        }
        grown = appended_bytes(self._sizes, sizes, leaders)
        rates = {broker_id: round(grown.get(broker_id, 0) * 1_000 / span_ms, 1) for broker_id in broker_ids}
        self.bytes_per_second = round(sum(rates.values()), 1)
        store.save_byte_rates(rates)


@lru_cache(1)
def _collector_of(context: TierContext) -> BrokerCollector:
    """Return the one collector that both tiers share."""
    return BrokerCollector(context.gateway.brokers, context.clock_ms)


def size_tier(context: TierContext) -> TierLook:
    collector = _collector_of(context)

    def look() -> None:
        context.sizes = collector.look_at_dirs(context.topics)
        context.bytes_per_second = collector.bytes_per_second

    return TierLook(look)


def request_tier(context: TierContext) -> TierLook:
    return TierLook(_collector_of(context).look_at_requests)
