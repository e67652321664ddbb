"""MirrorCheckpointConnector: where consumer groups of the source go on in the target."""

import threading
import time

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import NewTopic

from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.connect.api import ConfigValue, SourceRecord, SourceTask, SourceTaskContext
from broker.connect.api.plugin import ConnectorContext, Props
from broker.connect.plugins.mirror import settings
from broker.connect.plugins.own_props import OneTaskSource
from broker.mirror.checkpoint_keeper import CheckpointKeeper

_log = logger("broker.connect")
_TIMEOUT_S = 30.0


class MirrorCheckpointTask(SourceTask):
    """A look that fails is told, and made again in the next interval."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._keeper: CheckpointKeeper | None = None
        self._next = 0.0

    def start(self, props: Props, context: SourceTaskContext) -> None:
        self._props, self._values = props, settings.CHECKPOINT.parse(props)
        self._interval_s = float(self._values["emit.checkpoints.interval.seconds"])

    def poll(self) -> list[SourceRecord]:
        left_s = self._next - time.monotonic()
        if left_s > 0:
            self._stopped.wait(min(left_s, 0.5))
            return []
        self._next = time.monotonic() + self._interval_s
        try:
            self._keeper = self._keeper or self._opened()
            self._keeper.look()
        except (BarnabasError, KafkaException, BufferError, OSError) as error:
            _log.warning("groups not followed", flow=settings.flow_name(self._values), reason=str(error))
            self._close()
        if self._stopped.is_set():
            self._close()
        return []

    def _opened(self) -> CheckpointKeeper:
        values = self._values
        source, target = settings.addresses(self._props)
        naming = settings.naming(values)
        admin = target.admin()
        if naming.checkpoints not in admin.list_topics(timeout=_TIMEOUT_S).topics:
            replicas = settings.replicas_of(values, "checkpoints")
            new = NewTopic(naming.checkpoints, 1, replicas, config={"cleanup.policy": "compact"})
            admin.create_topics([new])[naming.checkpoints].result(_TIMEOUT_S)
        return CheckpointKeeper(
            source.connect, target.connect, Producer(target.client()), naming, settings.flow_name(values),
            settings.chosen(values, "groups"), commits=values["sync.group.offsets.enabled"],
        )  # fmt: skip

    def _close(self) -> None:
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None

    def stop(self) -> None:
        self._stopped.set()


class MirrorCheckpointConnector(OneTaskSource):
    """Follows consumer groups: the offsets with which each goes on in the other cluster."""

    VERSION = "3.9"
    task_class = MirrorCheckpointTask
    CONFIG = settings.CHECKPOINT

    def validate(self, props: Props) -> list[ConfigValue]:
        return settings.validated(self.CONFIG, props)

    def start(self, props: Props, context: ConnectorContext) -> None:
        self._is_enabled = self.CONFIG.parse(props)["emit.checkpoints.enabled"]
        settings.addresses(props)
        self._props = dict(props)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return super().task_configs(max_tasks) if self._is_enabled else []
