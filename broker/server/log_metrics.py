"""What Prometheus is told of this broker's log directories, and of logs that are not as they should be."""

from collections.abc import Iterable

from broker.common.plain_prometheus import GaugeMetricFamily, Metric
from broker.log.manager import LogManager

_PREFIX = "barnabas_broker_"


class LogMetrics:
    """Gauges read at the moment of the scrape."""

    def __init__(self, logs: LogManager):
        self._logs = logs

    def collect(self) -> Iterable[Metric]:
        yield from self._of_directories()
        yield _gauge(
            "stray_logs",
            "Directories named -stray: logs of no partition of this broker, and parts that recovery cut off.",
            len(self._logs.strays),
        )
        yield _gauge(
            "logs_unopened",
            "Logs found at startup and not opened: old message format, unreadable partition.metadata, moved to an "
            "offline directory, or no room for what recovery takes out.",
            len(self._logs.unopened),
        )
        yield _gauge(
            "log_gaps",
            "Gaps between segments of logs that the last start found and compaction does not explain: lost offsets.",
            sum(map(len, self._logs.lost_offsets.values())),
        )

    def _of_directories(self) -> Iterable[Metric]:
        full = GaugeMetricFamily(
            _PREFIX + "log_dir_full",
            "1 while the log directory is full; its leaderships are then given to in-sync replicas with free space.",
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
        return full, offline


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, meaning, value=value)
