"""Which store a connector's source offsets are in; a topic of its own is read once, while anybody here needs it."""

import functools
import threading
from collections.abc import Callable, Mapping

from broker.connect.settings import WorkerSettings
from broker.connect.storage.logs import StorageLog, TopicLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.source_offsets import OwnOffsets, SharedOffsets, SourceOffsets
from broker.connect.tasks.boundaries import OWN_TOPIC

#: Of a worker that keeps the offsets of all others in a file.
_PARTITIONS, _REPLICAS = 25, -1


class OffsetStores:
    def __init__(self, settings: WorkerSettings, offsets: StoredOffsets, log: Callable[[], StorageLog]):
        self._settings, self._offsets, self._log = settings, offsets, log
        self._open: dict[object, _OpenStore] = {}
        self._lock = threading.Lock()

    def of(self, connector: str, props: Mapping[str, str]) -> SourceOffsets:
        """Return the offset store of the connector, not read yet; the caller closes it.

        Raises ConnectError, ClientConfigError.
        """
        settings = self._settings
        everybodys = settings.values.get("offset_storage_topic", "")
        shared = SharedOffsets(connector, everybodys, self._log(), self._offsets)
        topic = props.get(OWN_TOPIC) or everybodys
        client = settings.offsets_client(props)
        is_elsewhere = client["bootstrap.servers"] != settings.bootstrap_servers
        # A transaction is of one cluster: its offsets are where its records are.
        is_own = topic != everybodys or (is_elsewhere and (settings.is_exactly_once or OWN_TOPIC in props))
        if not is_own:
            return shared
        key = (topic, *sorted((name, str(value)) for name, value in client.items()))
        make = functools.partial(self._make, topic, client)
        return OwnOffsets(
            connector, topic, shared, lambda: self._opened(key, make), functools.partial(self._closed, key)
        )

    def _make(self, topic: str, client: Mapping[str, object], offsets: StoredOffsets) -> StorageLog:
        values = self._settings.values
        return TopicLog(
            topic,
            values.get("offset_storage_partitions", _PARTITIONS),
            values.get("offset_storage_replication_factor", _REPLICAS),
            client,
            offsets.apply,
            has_transactions=self._settings.is_exactly_once,
        )

    def _opened(self, key: object, make: Callable[[StoredOffsets], StorageLog]) -> tuple[StorageLog, StoredOffsets]:
        """Raises StartupError."""
        with self._lock:
            opened = self._open.get(key)
            if opened is None:
                opened = self._open[key] = _OpenStore(make)
            opened.users += 1
        try:
            opened.start()
        except BaseException:
            self._closed(key)
            raise
        return opened.log, opened.offsets

    def _closed(self, key: object) -> None:
        with self._lock:
            opened = self._open[key]
            opened.users -= 1
            if opened.users:
                return
            del self._open[key]
        opened.log.stop()


class _OpenStore:
    def __init__(self, make: Callable[[StoredOffsets], StorageLog]):
        self.offsets = StoredOffsets()
        self.log = make(self.offsets)
        self.users = 0
        self._is_started = False
        self._starting = threading.Lock()

    def start(self) -> None:
        """Start the wait; other callers wait for the first."""
        with self._starting:
            if not self._is_started:
                self.log.start()
                self._is_started = True
