"""What a broker tells Prometheus. Names begin with `barnabas_broker_`.

Requests are counted as they pass; sizes and states are read from the rooms when somebody asks.
"""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector

from broker.common.errors import ErrorCode
from broker.config.broker import BrokerConfig
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.replication.fetch_session import FetchSessions
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.request_times import RequestTimes
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS, replicas_asked_for
from broker.server.listeners import Listeners
from broker.server.metric_families import PREFIX, counter, gauge
from broker.server.security_metrics import has_names


class RequestMetrics:
    """Counters of the request path: plain integers that only the broker's loop changes, read at each scrape."""

    def __init__(self, registry: CollectorRegistry):
        self.requests: dict[ApiKey, int] = {handler.api: 0 for handler in HANDLERS}
        self.bytes_in = 0
        self.bytes_out = 0
        self.rejected = 0
        self.failed = 0
        registry.register(self)

    def collect(self) -> Iterable[Metric]:
        requests = CounterMetricFamily(PREFIX + "requests", "Requests received.", labels=["api"])
        for api, count in self.requests.items():
            requests.add_metric([api.name.lower()], count)
        yield requests
        yield counter("request_bytes", "Bytes of requests.", self.bytes_in)
        yield counter("response_bytes", "Bytes of responses.", self.bytes_out)
        yield counter("rejected_requests", "Connections closed because of what they sent.", self.rejected)
        yield counter("failed_requests", "Requests that met a fault of ours.", self.failed)


class ErrorMetrics:
    """Answers by the error in them."""

    def __init__(self, times: RequestTimes):
        self._times = times

    def collect(self) -> Iterable[Metric]:
        name, meaning = PREFIX + "request_errors", "Answers with an error in them, by the first one."
        errors = CounterMetricFamily(name, meaning, labels=["api", "error"])
        for api, times in self._times:
            for code, count in times.errors.items():
                errors.add_metric([api.name.lower(), _name_of(code)], count)
        yield errors


def _name_of(code: int) -> str:
    """Return the name of an error code, or its number: another broker may answer with an unknown one."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


class StateMetrics:
    """Gauges read at the moment of the scrape."""

    def __init__(
        self,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        delayed_fetches: DelayedFetches,
        fetch_sessions: FetchSessions,
        listeners: Listeners,
        config: BrokerConfig,
    ):
        self._replicas = replicas
        self._metadata = metadata
        self._delayed_fetches = delayed_fetches
        self._fetch_sessions = fetch_sessions
        self._listeners = listeners
        self._config = config

    def collect(self) -> Iterable[Metric]:
        hosted = list(self._replicas)
        yield gauge("partitions", "Partitions hosted.", len(hosted))
        yield gauge("leaders", "Partitions led.", sum(partition.partition.is_leader for partition in hosted))
        yield gauge("log_bytes", "Bytes of all logs.", sum(partition.log.size_bytes for partition in hosted))
        yield gauge("connections", "Open client connections.", self._listeners.connection_count)
        yield gauge("delayed_fetches", "Fetches waiting for data.", len(self._delayed_fetches))
        yield gauge("fetch_sessions", "Fetch sessions (KIP-227).", len(self._fetch_sessions))
        yield gauge(
            "fetch_session_partitions", "Partitions in all fetch sessions.", self._fetch_sessions.partition_count
        )
        yield gauge("is_controller", "1 when controller.", int(self._metadata.controller_id == self._config.broker_id))
        yield gauge(
            "internal_topics_short_of_replicas",
            "Internal topics of coordinators with fewer replicas than configured: created when there was one broker.",
            sum(map(self._is_short_of_replicas, INTERNAL_TOPICS)),
        )
        if not has_names(self._config):
            return
        end_offsets = GaugeMetricFamily(
            PREFIX + "log_end_offset", "Next offset of a partition.", labels=["topic", "partition"]
        )
        for partition in hosted:
            topic, index = partition.partition.topic_partition
            end_offsets.add_metric([topic, str(index)], partition.log.log_end_offset)
        yield end_offsets

    def _is_short_of_replicas(self, name: str) -> bool:
        topic = self._metadata.topics.get(name)
        asked_for = replicas_asked_for(name, self._config)
        return topic is not None and any(len(partition.replicas) < asked_for for partition in topic.partitions.values())


class ControllerMetrics:
    """Metrics that only the controller has, read at each scrape."""

    def __init__(self, controller: ControllerRuntime):
        self._controller = controller

    def collect(self) -> Iterable[Metric]:
        yield counter(
            "unclean_leader_elections",
            "Unclean leader elections by this broker as controller: the new leader was not in the ISR.",
            self._controller.election_log.unclean_elections,
        )
        yield counter(
            "eligible_leader_elections",
            "Leader elections by this broker as controller from eligible leader replicas, outside the ISR.",
            self._controller.election_log.eligible_elections,
        )
        yield gauge(
            "partitions_awaiting_logs",
            "Partitions whose state was removed, without a leader until all their logs are known; 0 elsewhere.",
            len(self._controller.election_log.awaiting_logs) if self._controller.is_controller else 0,
        )
        yield gauge(
            "foreign_brokers",
            "Brokers of another Kafka registered in this ensemble, as the controller sees them; 0 elsewhere.",
            len(self._controller.foreign_brokers),
        )


def new_registry() -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    return registry
