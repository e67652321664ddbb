"""What the probe knows as Prometheus metrics. Counters are of this life of the process."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from broker.common.sketch import Sketch
from broker.probe.shared_state import ProbeSharedState
from broker.probe.tally import MIRROR

_COUNTS = {
    "written": "Records that were acknowledged by all in-sync replicas.",
    "not_written": "Records that were not.",
    "fetched": "Times a partition could be read.",
    "not_fetched": "Times it could not.",
    "read": "Records read back.",
    "duplicated": "Records read a second time.",
    "reordered": "Records read behind one that was sent later.",
    "answered": "Requests that a broker answered.",
    "unanswered": "Requests that it did not.",
    "silent_ms": "How long a broker did not answer.",
}
_SHARES = (0.5, 0.95, 0.99)


class ProbeMetrics(Collector):
    def __init__(self, desk: ProbeSharedState):
        self._desk = desk

    def collect(self) -> Iterable[Metric]:
        with self._desk.lock:
            yield from self._counts()
            yield from self._latencies()
            silent = GaugeMetricFamily("barnabas_probe_broker_silent", "1: it does not answer.", labels=["broker"])
            for broker, blame in self._desk.book.watch.brokers.items():
                silent.add_metric([str(broker)], float(blame.is_blamed))
            yield silent

    def _counts(self) -> Iterable[Metric]:
        total = self._desk.book.tallies.total
        lost = GaugeMetricFamily("barnabas_probe_lost", "Acknowledged records that are not there.", labels=_LABELS)
        for part, tally in total.items():
            lost.add_metric(_labels(part), tally.lost)
        yield lost
        for name, meaning in _COUNTS.items():
            family = CounterMetricFamily(f"barnabas_probe_{name}", meaning, labels=_LABELS)
            for part, tally in total.items():
                family.add_metric(_labels(part), getattr(tally, name))
            yield family

    def _latencies(self) -> Iterable[Metric]:
        """Yield percentiles of the last whole minute: over a whole life they would hardly change any more."""
        minutes = self._desk.book.tallies.minutes(0)
        parts = minutes[-1][1] if minutes else {}
        for name in ("produce", "end_to_end"):
            family = GaugeMetricFamily(
                f"barnabas_probe_{name}_ms", "Percentiles of the last minute.", labels=[*_LABELS, "quantile"]
            )
            for part, tally in parts.items():
                sketch: Sketch = getattr(tally, name)
                for share in _SHARES:
                    if (value := sketch.percentile(share)) is not None:
                        family.add_metric([*_labels(part), str(share)], value)
            yield family


_LABELS = ["broker", "partition", "mirror"]


def _labels(part: str) -> list[str]:
    """Return labels, all empty for the total; `mirror` is yes for records read from a copy."""
    kind, _, number = part.partition("/")
    is_mirror = kind == MIRROR
    return [number if kind == "broker" else "", number if kind != "broker" else "", "yes" if is_mirror else ""]
