"""What Prometheus is told of this broker's log directories."""

from collections.abc import Iterable

from broker.common.plain_prometheus import GaugeMetricFamily, Metric
from broker.log.manager import LogManager

_PREFIX = "barnabas_broker_"


class LogDirMetrics:
    """Gauges of each log directory, read at the moment of the scrape."""

    def __init__(self, logs: LogManager):
        self._logs = logs

    def collect(self) -> Iterable[Metric]:
        full = GaugeMetricFamily(
            _PREFIX + "log_dir_full",
            "1 while the log directory is full: what it led is led by in-sync replicas with room.",
            labels=["log_dir"],
        )
        offline = GaugeMetricFamily(
            _PREFIX + "log_dir_offline", "1 when the log directory has failed.", labels=["log_dir"]
        )
        for path, room in self._logs.rooms.items():
            full.add_metric([str(path)], int(room.is_full))
            offline.add_metric([str(path)], 0)
        for path in self._logs.offline_directories:
            offline.add_metric([str(path)], 1)
        yield full
        yield offline
