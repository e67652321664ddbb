"""What Prometheus is told of this broker's log directories, and of logs that are not as they should be."""

from collections.abc import Iterable
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily, Metric

from broker.config.broker import BrokerConfig
from broker.log.manager import LogManager
from broker.server.metric_families import PREFIX, counter, gauge
from broker.server.security_metrics import has_names


class LogMetrics:
    """Gauges read at the moment of the scrape."""

    def __init__(self, logs: LogManager, config: BrokerConfig):
        self._logs = logs
        self._labels = {Path(path): str(number) for number, path in enumerate(config.log_dirs, 1)}
        self._has_names = has_names(config)

    def collect(self) -> Iterable[Metric]:
        yield from self._of_directories()
        yield gauge(
            "stray_logs",
            "Directories named -stray: logs of no partition of this broker, parts that recovery cut off, and records "
            "that a leader lacked.",
            len(self._logs.strays),
        )
        yield gauge(
            "logs_missing",
            "Partitions without a leader: their logs are missing at this broker, the last one in sync.",
            len(self._logs.withheld),
        )
        yield counter(
            "truncations_kept",
            "Truncations of records that may have been acknowledged and that the leader lacked, kept in -stray.",
            self._logs.truncations_kept,
        )
        yield gauge(
            "logs_unopened",
            "Logs found at startup and not opened: old message format, unreadable partition.metadata, moved to an "
            "offline directory, or no room for what recovery takes out.",
            len(self._logs.unopened),
        )
        yield gauge(
            "logs_uncleanable",
            "Compacted partitions that are compacted no more since a pass of the cleaner failed; the log says why.",
            len(self._logs.uncleanable),
        )
        yield gauge(
            "log_gaps",
            "Gaps between segments of logs that the last start found and compaction does not explain: lost offsets.",
            sum(map(len, self._logs.lost_offsets.values())),
        )

    def _of_directories(self) -> Iterable[Metric]:
        full = GaugeMetricFamily(
            PREFIX + "log_dir_full",
            "1 while the log directory is full; its leaderships are then given to in-sync replicas with free space.",
            labels=["log_dir"],
        )
        offline = GaugeMetricFamily(
            PREFIX + "log_dir_offline", "1 when the log directory has failed.", labels=["log_dir"]
        )
        stray = GaugeMetricFamily(
            PREFIX + "stray_bytes",
            "Bytes of the -stray directories in the log directory, looked at once a minute; nothing removes them.",
            labels=["log_dir"],
        )
        for path, stray_bytes in self._logs.stray_bytes.items():
            stray.add_metric([self._label(path)], stray_bytes)
        for path, room in self._logs.rooms.items():
            full.add_metric([self._label(path)], int(room.is_full))
            offline.add_metric([self._label(path)], 0)
        for path in self._logs.offline_directories:
            offline.add_metric([self._label(path)], 1)
        return full, offline, stray

    def _label(self, path: Path) -> str:
        """Return the path, or where /metrics has no names the place of the directory in `log.dirs`, from 1 on."""
        return str(path) if self._has_names else self._labels.get(path, "")
