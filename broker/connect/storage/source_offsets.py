"""Where the source offsets of a connector are: in the worker's log, or first in a topic of its own (KIP-618).

A topic of its own is read and written as the connector's producer logs in, and on its cluster. The worker's log is told
as well, so that a connector which gives its topic up goes on, and is asked for what the topic does not know. So offsets
that are taken back are taken back there first (KAFKA-15018): else they would come again from there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from broker.common.logs import logger
from broker.connect.storage.logs import StorageError, StorageLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.records import Record

Partition = Mapping[str, Any]
Offset = Mapping[str, Any]
_log = logger("broker.connect")


class SourceOffsets(Protocol):
    """Offsets of one connector, for any thread. Reads before `catch_up` may be old."""

    #: Where an exactly-once task's own transactions put them.
    topic: str

    def catch_up(self, *, waits_for_open: bool = False) -> None:
        """Raises StorageError, StartupError for a topic that cannot keep them."""

    def of(self, partition: Partition) -> dict[str, Any] | None: ...
    def all(self) -> list[tuple[Any, Any]]: ...
    def record(self, partition: Partition, offset: Offset | None) -> Record: ...
    def put(self, pairs: Sequence[tuple[Partition, Offset | None]]) -> None:
        """Raises StorageError."""

    def are_committed(self, pairs: Sequence[tuple[Partition, Offset]]) -> None:
        """Note offsets that a transaction has committed in `topic`."""

    def close(self) -> None: ...


class SharedOffsets:
    """Offsets in the worker's log, which is open as long as the worker runs."""

    def __init__(self, connector: str, topic: str, log: StorageLog, offsets: StoredOffsets):
        self.topic = topic
        self._connector, self._log, self._offsets = connector, log, offsets

    def catch_up(self, *, waits_for_open: bool = False) -> None:
        self._log.read_to_end(waits_for_open=waits_for_open)

    def of(self, partition: Partition) -> dict[str, Any] | None:
        return self._offsets.of(self._connector, partition)

    def all(self) -> list[tuple[Any, Any]]:
        return self._offsets.all(self._connector)

    def record(self, partition: Partition, offset: Offset | None) -> Record:
        return self._offsets.record(self._connector, partition, offset)

    def put(self, pairs: Sequence[tuple[Partition, Offset | None]]) -> None:
        self._log.put([self.record(*pair) for pair in pairs])

    def post(self, pairs: Sequence[tuple[Partition, Offset]]) -> None:
        """Write the offsets as a best effort; the connector's own topic is authoritative."""
        try:
            self._log.post([self.record(*pair) for pair in pairs])
        except (StorageError, BufferError) as error:
            _log.warning("offsets not written to the worker's topic", connector=self._connector, reason=str(error))

    def are_committed(self, pairs: Sequence[tuple[Partition, Offset]]) -> None:
        return

    def close(self) -> None:
        return


class OwnOffsets:
    """Offsets in a topic of the connector's own. `opened` waits for that to be read, `closed` is called once if it was
    opened.
    """

    def __init__(
        self,
        connector: str,
        topic: str,
        shared: SharedOffsets,
        opened: Callable[[], tuple[StorageLog, StoredOffsets]],
        closed: Callable[[], None],
    ):
        self.topic = topic
        self._connector, self._shared = connector, shared
        self._opened, self._closed = opened, closed
        self._known: SharedOffsets | None = None

    @property
    def _own(self) -> SharedOffsets:
        if self._known is None:
            self._known = SharedOffsets(self._connector, self.topic, *self._opened())
        return self._known

    def catch_up(self, *, waits_for_open: bool = False) -> None:
        self._own.catch_up(waits_for_open=waits_for_open)
        self._shared.catch_up(waits_for_open=waits_for_open)

    def of(self, partition: Partition) -> dict[str, Any] | None:
        offset = self._own.of(partition)
        return self._shared.of(partition) if offset is None else offset

    def all(self) -> list[tuple[Any, Any]]:
        own = self._own.all()
        known = [partition for partition, _ in own]
        return own + [item for item in self._shared.all() if item[0] not in known]

    def record(self, partition: Partition, offset: Offset | None) -> Record:
        return self._own.record(partition, offset)

    def put(self, pairs: Sequence[tuple[Partition, Offset | None]]) -> None:
        if taken_back := [pair for pair in pairs if pair[1] is None]:
            self._shared.put(taken_back)
        self._own.put(pairs)
        self.are_committed([(partition, offset) for partition, offset in pairs if offset is not None])

    def are_committed(self, pairs: Sequence[tuple[Partition, Offset]]) -> None:
        self._shared.post(pairs)

    def close(self) -> None:
        if self._known is not None:
            self._known = None
            self._closed()


@contextmanager
def closing(offsets: SourceOffsets) -> Iterator[SourceOffsets]:
    try:
        yield offsets
    finally:
        offsets.close()
