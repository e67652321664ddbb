"""What Prometheus is told of quotas: of those nearest to their bounds, so that made-up client ids do not fill it."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from broker.runtime.security.quotas import Quotas

_PREFIX = "barnabas_broker_quota_"
_LABELS = ["quota", "user", "client_id"]


class QuotaMetrics:
    """Read at the moment of the scrape."""

    def __init__(self, quotas: Quotas):
        self._quotas = quotas

    def collect(self) -> Iterable[Metric]:
        bounds = GaugeMetricFamily(_PREFIX + "limit", "What a user or client id may use.", labels=_LABELS)
        rates = GaugeMetricFamily(_PREFIX + "rate", "What it has used lately, in the quota's unit.", labels=_LABELS)
        throttled = CounterMetricFamily(_PREFIX + "throttled_ms", "What it was told to wait.", labels=_LABELS)
        for use in self._quotas.uses():
            labels = [str(use.key), use.user, use.client_id]
            bounds.add_metric(labels, use.bound)
            rates.add_metric(labels, use.rate)
            throttled.add_metric(labels, use.throttled_ms)
        yield from (bounds, rates, throttled)
        yield CounterMetricFamily(
            _PREFIX + "connections_held_ms",
            "What connections beyond their address's rate were held before they were closed.",
            value=self._quotas.addresses.throttled_ms(),
        )
