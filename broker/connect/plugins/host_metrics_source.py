"""What the host is doing, once in each interval, keyed by its name."""

import platform

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, SourceConnector, SourceRecord, SourceTaskContext
from broker.connect.api.config import between, not_empty
from broker.connect.api.plugin import ConnectorContext, Props
from broker.connect.api.schema import STRING
from broker.connect.host_metrics import measure
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


class HostMetricsSourceConnector(SourceConnector):
    """Percent per core, load, bytes of memory, disk and network counters."""

    task_class = HostMetricsTask
    CONFIG = ConfigDef(
        ConfigKey("topic", documentation="The topic of the measurements.", validator=not_empty),
        ConfigKey("interval.ms", ConfigType.INT, 1_000, documentation="Between two.", validator=between(100)),
    )

    def start(self, props: Props, context: ConnectorContext) -> None:
        self.CONFIG.parse(props)
        self._props = dict(props)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self._props]
