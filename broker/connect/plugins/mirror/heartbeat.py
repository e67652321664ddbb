"""MirrorHeartbeatConnector: a beat a second in the target, which every further mirror copies as it copies records."""

import time
from struct import Struct

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import NewTopic

from broker.common.logs import logger
from broker.connect.api import ConfigValue, SourceRecord, SourceTaskContext
from broker.connect.api.plugin import ConnectorContext, Props
from broker.connect.plugins.mirror import settings
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.ticks import TickingTask
from broker.mirror.naming import HEARTBEATS

_log = logger("broker.connect")
_TIMEOUT_S = 30.0
_INT16, _INT64 = Struct(">h"), Struct(">q")
_VERSION = 0


def beat(source: str, target: str, timestamp_ms: int) -> tuple[bytes, bytes]:
    """Return key and value of a heartbeat, as Kafka's mirror writes them: two texts; version, timestamp."""
    key = b"".join(_INT16.pack(len(name.encode())) + name.encode() for name in (source, target))
    return key, _INT16.pack(_VERSION) + _INT64.pack(timestamp_ms)


class MirrorHeartbeatTask(TickingTask):
    def start(self, props: Props, context: SourceTaskContext) -> None:
        values = settings.HEARTBEAT.parse(props)
        _, target = settings.addresses(props)
        self._interval_s = float(values["emit.heartbeats.interval.seconds"])
        self._aliases = values["source.cluster.alias"], values["target.cluster.alias"]
        self._admin, self._producer = target.admin(), Producer(target.client())
        self._replicas = settings.replicas_of(values, "heartbeats")
        self._is_made = False

    def tick(self, now_ms: int) -> list[SourceRecord]:
        try:
            self._make()
            key, value = beat(*self._aliases, int(time.time() * 1000))
            self._producer.produce(HEARTBEATS, value, key)
            self._producer.poll(0)
        except (KafkaException, BufferError, TimeoutError) as error:
            _log.warning("no beat", target=self._aliases[1], reason=str(error))
        return []

    def _make(self) -> None:
        if not self._is_made and HEARTBEATS not in self._admin.list_topics(timeout=_TIMEOUT_S).topics:
            new = NewTopic(HEARTBEATS, 1, self._replicas, config={"cleanup.policy": "compact"})
            self._admin.create_topics([new])[HEARTBEATS].result(_TIMEOUT_S)
        self._is_made = True


class MirrorHeartbeatConnector(OneTaskSource):
    """Shows that a mirror lives, and how long records take through all that come behind it."""

    VERSION = "3.9"
    task_class = MirrorHeartbeatTask
    CONFIG = settings.HEARTBEAT

    def validate(self, props: Props) -> list[ConfigValue]:
        return settings.validated(self.CONFIG, props)

    def start(self, props: Props, context: ConnectorContext) -> None:
        self._is_enabled = self.CONFIG.parse(props)["emit.heartbeats.enabled"]
        settings.addresses(props)
        self._props = dict(props)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return super().task_configs(max_tasks) if self._is_enabled else []
