"""The console's own view of the cluster as Prometheus metrics: numbers only, no names of people, hosts or records."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.conf import settings
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import current_cluster
from console.signals.overview.queries import overview_facts


def of_cluster(metrics: Iterable[Metric]) -> Iterator[Metric]:
    """Yield the metrics with the cluster's name as a label, if there are several."""
    for metric in metrics:
        if settings.CLUSTERS:
            named = ({"cluster": current_cluster(), **sample.labels} for sample in metric.samples)
            metric.samples = [
                sample._replace(labels=labels) for sample, labels in zip(metric.samples, named, strict=True)
            ]
        yield metric


class ClusterMetrics(Collector):
    """Read from the database when scraped; a scrape costs the brokers nothing."""

    def collect(self) -> Iterator[Metric]:
        yield from of_cluster(self._collect())

    def _collect(self) -> Iterator[Metric]:
        facts = overview_facts()
        state, at_ms = facts["cluster"], now_ms()
        yield _gauge("cluster_known", "1 if brokers and partitions can be read, 0 if not.", int(not state.outage))
        if not state.outage:
            yield from _of_brokers_and_topics(facts)
        yield _gauge("zookeeper_servers_serving", "ZooKeeper servers that serve.", facts["serving_zookeeper_count"])
        for tier, tier_at_ms in (("brokers", state.brokers_at_ms), ("topics", state.topics_at_ms)):
            if tier_at_ms:
                yield _gauge(f"{tier}_age_seconds", f"Age of what is known of {tier}.", (at_ms - tier_at_ms) / 1000)


def _of_brokers_and_topics(facts: Mapping[str, Any]) -> Iterator[Metric]:
    """Yield what says nothing of now once the cluster cannot be read."""
    state, totals = facts["cluster"], facts["totals"]
    registered = facts["registered_count"]
    yield _gauge("brokers_registered", "Brokers registered now.", registered)
    yield _gauge("brokers_missing", "Brokers known and not there.", len(facts["brokers"]) - registered)
    yield _gauge("controller_present", "1 if there is a controller.", int(state.controller_id is not None))
    yield _gauge("topics", "Topics that are not internal.", totals["topic_count"])
    yield _gauge("partitions", "Partitions of all topics.", totals["partitions"])
    yield _gauge("partitions_under_replicated", "Partitions short of replicas.", totals["under_replicated"])
    yield _gauge("partitions_leaderless", "Partitions without a leader.", totals["leaderless"])
    if state.records_per_second is not None:
        yield _gauge("records_per_second", "Records appended per second.", state.records_per_second)


def _gauge(name: str, documentation: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"barnabas_console_{name}", documentation, value=value)
