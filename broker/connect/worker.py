"""Runs connectors: one thread each polls, delivers, and stores the offset once everything polled was acknowledged.

That order is the promise: at least once. What was read and not yet acknowledged when the worker dies is read again;
what was acknowledged and not yet stored comes twice. Each connector holds one poll's records in memory, never more.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from broker.client.security.file import read_own_security
from broker.client.security.librdkafka import librdkafka_settings
from broker.common.clock import Clock
from broker.common.logs import logger
from broker.connect.config import WorkerConfig
from broker.connect.delivery import DeliveryStopped, connect_producer, deliver
from broker.connect.offset_store import FileOffsetStore
from broker.connect.source import SourceConnector, acknowledged_prefix, resume_points
from broker.connect.topics import ensure_topic

#: How long a connector that failed rests before it starts again from its stored offset.
RESTART_PAUSE_S = 5.0

_log = logger("broker.connect")


class ConnectorTask:
    """One connector's life: start, poll and deliver until stopped; a connector that fails is started again."""

    def __init__(self, name: str, connector: SourceConnector, store: FileOffsetStore, producer: Producer, clock: Clock):
        self._name = name
        self._connector = connector
        self._store = store
        self._producer = producer
        self._clock = clock

    def run(self, stop: Event, prepare: Callable[[], None]) -> None:
        """Until `stop` is set; `prepare` makes the topic and is called before each start."""
        while not stop.is_set():
            try:
                prepare()
                self._run_once(stop)
            except DeliveryStopped:
                return
            except Exception:  # a connector reads what others wrote: its failure must not end the other connectors
                _log.exception("connector failed", connector=self._name)
                stop.wait(RESTART_PAUSE_S)

    def _run_once(self, stop: Event) -> None:
        try:
            self._connector.start(self._store.offsets_of(self._name))
            _log.info("connector started", connector=self._name, topic=self._connector.topic)
            while not stop.is_set():
                if not self.transfer(stop):
                    stop.wait(self._connector.poll_interval_ms / 1000)
        finally:
            self._connector.stop()

    def transfer(self, stop: Event) -> int:
        """One poll's records, delivered and their offset stored; returns how many there were."""
        records = self._connector.poll(self._clock.now_ms())
        if not records:
            return 0
        try:
            deliver(self._producer, records, stop)
        except DeliveryStopped as stopped:
            self._store.store(self._name, resume_points(acknowledged_prefix(records, stopped.acknowledged)))
            raise
        self._store.store(self._name, resume_points(records))
        return len(records)


class ConnectWorker:
    """All connectors of one configuration, over one producer."""

    def __init__(self, config: WorkerConfig, clock: Clock):
        self._config = config
        self._clock = clock
        self._store = FileOffsetStore(Path(config.offset_file).absolute())

    def run(self, stop: Event) -> None:
        """Returns when `stop` is set and every connector has stopped. Raises ClientConfigError."""
        config = self._config
        security = librdkafka_settings(read_own_security(config.client_config))
        producer = connect_producer(config.bootstrap_servers, config.client_id, security)
        admin = AdminClient({"bootstrap.servers": config.bootstrap_servers, "client.id": config.client_id, **security})
        threads = [
            Thread(target=self._run_connector, args=(name, connector, admin, producer, stop), name=name)
            for name, connector in config.connectors.items()
        ]
        _log.info("worker started", connectors=",".join(config.connectors), bootstrap=config.bootstrap_servers)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        producer.purge()
        _log.info("worker stopped")

    def _run_connector(
        self, name: str, connector: SourceConnector, admin: AdminClient, producer: Producer, stop: Event
    ) -> None:
        task = ConnectorTask(name, connector, self._store, producer, self._clock)
        task.run(stop, lambda: ensure_topic(admin, connector.topic, self._config.partitions, stop))
