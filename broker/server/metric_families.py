"""The families of a broker's metrics: one prefix for all names, and the two kinds that hold a single value."""

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

PREFIX = "barnabas_broker_"


def counter(name: str, meaning: str, value: int) -> CounterMetricFamily:
    """Return a counter without labels; Prometheus reads its name with `_total` behind it."""
    return CounterMetricFamily(PREFIX + name, meaning, value=value)


def gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    """Return a gauge without labels."""
    return GaugeMetricFamily(PREFIX + name, meaning, value=value)
