"""What Prometheus is told of the metrics that clients push (KIP-714)."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from broker.common.clock import Clock
from broker.config.client_metrics import CLIENT_ID, CLIENT_SOFTWARE_NAME
from broker.runtime.telemetry.client_telemetry import ClientTelemetry
from broker.runtime.telemetry.pushed_metrics import PushedClient, PushedSeriesKey
from broker.server.metric_families import PREFIX, gauge

#: A client id, a library and a metric with its attributes.
_Series = tuple[str, str, str, str]


class TelemetryMetrics:
    """Read at each scrape. Instances of a client id are one series: sums are added up, the largest gauge counts."""

    def __init__(self, telemetry: ClientTelemetry, clock: Clock, *, has_names: bool):
        """has_names: whether numbers are told, which carry client ids and topics."""
        self._telemetry = telemetry
        self._clock = clock
        self._has_names = has_names

    def collect(self) -> Iterable[Metric]:
        telemetry = self._telemetry
        telemetry.pushed.forget(self._clock.monotonic_ms())
        labels = ["client_id", "client_software_name", "name", "attributes"]
        sums = GaugeMetricFamily(
            PREFIX + "client_metric_sum", "Sums that clients pushed, since they began to push.", labels=labels
        )
        gauges = GaugeMetricFamily(PREFIX + "client_metric", "Gauges that clients pushed last.", labels=labels)
        added, largest = _by_client_id(telemetry.pushed if self._has_names else ())
        for family, values in ((sums, added), (gauges, largest)):
            for series, value in sorted(values.items()):
                family.add_metric(list(series), value)
        yield from (sums, gauges)
        yield gauge("client_metrics_instances", "Clients that asked what to push, and are remembered.",
                    len(telemetry.instances))  # fmt: skip
        requests = CounterMetricFamily(
            PREFIX + "client_metrics_requests",
            "Requests of client telemetry by what became of them.",
            labels=["outcome"],
        )
        for outcome, count in (
            ("taken", telemetry.pushes),
            ("throttled", telemetry.throttled),
            ("unknown_subscription", telemetry.unknown_subscriptions),
            ("unreadable", telemetry.unreadable),
        ):
            requests.add_metric([outcome], count)
        yield requests
        left_out = CounterMetricFamily(
            PREFIX + "client_metrics_left_out", "Numbers of clients left out, as their share of memory was full."
        )
        left_out.add_metric([], telemetry.pushed.left_out)
        yield left_out


def _by_client_id(clients: Iterable[PushedClient]) -> tuple[dict[_Series, float], dict[_Series, float]]:
    added: dict[_Series, float] = {}
    largest: dict[_Series, float] = {}
    for client in clients:
        for key, value in client.values.items():
            series = _series(client, key)
            if key in client.sums:
                added[series] = added.get(series, 0.0) + value
            else:
                largest[series] = max(largest.get(series, value), value)
    return added, largest


def _series(client: PushedClient, key: PushedSeriesKey) -> _Series:
    attributes = ",".join(f"{name}={value}" for name, value in key.attributes)
    of_client = client.instance.attributes
    return of_client[CLIENT_ID], of_client[CLIENT_SOFTWARE_NAME], key.name, attributes
