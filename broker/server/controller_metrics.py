"""What Prometheus is told by whoever is controller."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from broker.runtime.controller.controller_runtime import ControllerRuntime

_PREFIX = "barnabas_broker_"


class ControllerMetrics:
    """Read from the controller when somebody asks."""

    def __init__(self, controller: ControllerRuntime):
        self._controller = controller

    def collect(self) -> Iterable[Metric]:
        yield CounterMetricFamily(
            _PREFIX + "unclean_leader_elections",
            "Partitions this broker, as controller, let somebody lead who was not in sync.",
            value=self._controller.unclean_elections,
        )
        yield GaugeMetricFamily(
            _PREFIX + "foreign_brokers",
            "Brokers of another Kafka registered in this ensemble, as the controller sees them; 0 elsewhere.",
            value=len(self._controller.foreign_brokers),
        )
