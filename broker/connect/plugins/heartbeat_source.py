"""A record in each interval: a consumer of the topic sees that Connect, the cluster and the path between are alive."""

from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    Field,
    Schema,
    SourceRecord,
    SourceTaskContext,
    Struct,
    Type,
)
from broker.connect.api.config import between, not_empty
from broker.connect.api.plugin import Props
from broker.connect.api.schema import INT64, STRING
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.ticks import TickingTask

VALUE = Schema(Type.STRUCT, name="barnabas.Heartbeat", fields=(Field("beat", INT64), Field("time_ms", INT64)))


class HeartbeatTask(TickingTask):
    def start(self, props: Props, context: SourceTaskContext) -> None:
        values = HeartbeatSourceConnector.CONFIG.parse(props)
        self._topic, self._source = values["topic"], values["source"]
        self._interval_s = values["interval.ms"] / 1000
        self._partition = {"heartbeat": self._source}
        self._beat = int((context.offset_reader.offset(self._partition) or {}).get("beat", 0))

    def tick(self, now_ms: int) -> list[SourceRecord]:
        self._beat += 1
        value = Struct(VALUE, {"beat": self._beat, "time_ms": now_ms})
        offset = {"beat": self._beat}
        return [SourceRecord(self._partition, offset, self._topic, None, STRING, self._source, VALUE, value, now_ms)]


class HeartbeatSourceConnector(OneTaskSource):
    """Numbered beats; the number goes on after a restart."""

    task_class = HeartbeatTask
    CONFIG = ConfigDef(
        ConfigKey("topic", documentation="The topic of the beats.", validator=not_empty),
        ConfigKey("source", default="heartbeat", documentation="The key of the beats.", validator=not_empty),
        ConfigKey("interval.ms", ConfigType.INT, 1_000, documentation="Between two.", validator=between(10)),
    )

    def exactly_once_support(self, props: Props) -> bool | None:
        return True
