"""What the host is doing, once in each interval, keyed by its name."""

import os
import platform
from typing import Any

import psutil

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, SourceRecord, SourceTaskContext
from broker.connect.api.config import between, not_empty
from broker.connect.api.plugin import Props
from broker.connect.api.schema import STRING
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.ticks import TickingTask


class HostMetricsTask(TickingTask):
    """Values have no schema: a host has as many cores and counters as it has."""

    def start(self, props: Props, context: SourceTaskContext) -> None:
        values = HostMetricsSourceConnector.CONFIG.parse(props)
        self._topic, self._interval_s = values["topic"], values["interval.ms"] / 1000
        self._host = platform.node()
        measure()  # the first percentages are meaningless: they have nothing to compare with

    def tick(self, now_ms: int) -> list[SourceRecord]:
        value = {"time_ms": now_ms, "host": self._host} | measure()
        place = {"host": self._host}
        return [SourceRecord(place, {"time_ms": now_ms}, self._topic, None, STRING, self._host, None, value, now_ms)]


class HostMetricsSourceConnector(OneTaskSource):
    """Percent per core, load, bytes of memory, disk and network counters."""

    task_class = HostMetricsTask
    CONFIG = ConfigDef(
        ConfigKey("topic", documentation="The topic of the measurements.", validator=not_empty),
        ConfigKey("interval.ms", ConfigType.INT, 1_000, documentation="Between two.", validator=between(100)),
    )


def measure() -> dict[str, Any]:
    """Return percent per core since the last call, load averages, bytes of memory, disk and network counters."""
    return {
        "cpu_percent": psutil.cpu_percent(percpu=True),
        "load": dict(zip(("1m", "5m", "15m"), os.getloadavg(), strict=True)),
        "memory": _chosen(psutil.virtual_memory(), "total", "available", "used", "percent"),
        "swap": _chosen(psutil.swap_memory(), "total", "used"),
        "disk_io": _chosen(psutil.disk_io_counters(), "read_count", "write_count", "read_bytes", "write_bytes"),
        "net_io": _chosen(
            psutil.net_io_counters(),
            *("bytes_sent", "bytes_recv", "packets_sent", "packets_recv", "errin", "errout", "dropin", "dropout"),
        ),
    }


def _chosen(counters: Any, *names: str) -> dict[str, float] | None:
    """Return the chosen counters; None when the machine has none (a container without disks)."""
    return {name: getattr(counters, name) for name in names} if counters is not None else None
