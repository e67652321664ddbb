"""What Prometheus is told of logs that are not as they should be."""

from collections.abc import Iterable

from broker.common.plain_prometheus import GaugeMetricFamily, Metric
from broker.log.manager import LogManager
from broker.runtime.log_gaps import LogGaps

_PREFIX = "barnabas_broker_"


class LogMetrics:
    """Gauges read at the moment of the scrape."""

    def __init__(self, logs: LogManager, gaps: LogGaps):
        self._logs = logs
        self._gaps = gaps

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily(
            _PREFIX + "logs_unopened",
            "Logs found at the start and not opened: damaged metadata, or a message format from before Kafka 0.11.",
            value=len(self._logs.unopened),
        )
        yield GaugeMetricFamily(
            _PREFIX + "log_gaps",
            "Places in logs that are not compacted where offsets are missing between two segments.",
            value=len(self._gaps),
        )
