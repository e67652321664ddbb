"""The classes a plugin derives from, and what the worker hands to it.

`props` are the connector's texts as they were given, also where they are not declared. A task is called from one
thread; only `stop` may come from another, and `poll` then returns soon.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, ClassVar, Protocol

from broker.connect.api.config import ConfigDef, ConfigValue
from broker.connect.api.record import ConnectPartition, ConnectRecord, Header, SinkColumns, SinkRecord, SourceRecord
from broker.connect.api.schema import Schema

Props = Mapping[str, str]


class ConnectorContext(Protocol):
    """What a connector may ask of the worker, from any thread."""

    def request_task_reconfiguration(self) -> None:
        """Request that `task_configs` is called again soon, because the input has changed."""
        ...

    def raise_error(self, error: Exception) -> None:
        """Set the connector to FAILED."""
        ...


class OffsetReader(Protocol):
    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the stored source offset of a source partition; None if there is none."""
        ...

    def offsets(self, partitions: Collection[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """Return the same for several source partitions, in the order given."""
        ...


class TransactionContext(Protocol):
    """Ends transactions with `transaction.boundary=connector` (KIP-618): behind the given record, or behind this poll's
    batch.
    """

    def commit_transaction(self, record: SourceRecord | None = None) -> None: ...

    def abort_transaction(self, record: SourceRecord | None = None) -> None: ...


class SourceTaskContext(Protocol):
    @property
    def offset_reader(self) -> OffsetReader: ...

    @property
    def transaction_context(self) -> TransactionContext | None:
        """None unless the connector defines the boundaries."""
        ...


class ErrantRecordReporter(Protocol):
    def report(self, record: SinkRecord, error: Exception) -> Future[None]:
        """Give up one record (KIP-610): done when the dead-letter topic has it; raises if errors are not tolerated."""
        ...


class SinkTaskContext(Protocol):
    def assignment(self) -> set[ConnectPartition]: ...

    def offset(self, offsets: Mapping[ConnectPartition, int]) -> None:
        """Set the source offsets that the next records begin at."""
        ...

    def timeout(self, timeout_ms: int) -> None:
        """Set the delay before the batch that raised RetriableError is delivered again."""
        ...

    def pause(self, *partitions: ConnectPartition) -> None: ...

    def resume(self, *partitions: ConnectPartition) -> None: ...

    def request_commit(self) -> None:
        """Request that `pre_commit` is called soon, not first at the end of the interval."""
        ...

    @property
    def errant_record_reporter(self) -> ErrantRecordReporter | None: ...


class _Connector(ABC):
    VERSION: ClassVar[str] = "1"
    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    @abstractmethod
    def start(self, props: Props, context: ConnectorContext) -> None:
        """Keep the configuration, watch the source if need be. Raises ConnectError."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the configurations of the tasks: 1 to `max_tasks`, none if there is nothing to do."""

    def stop(self) -> None:
        """Give back what `start` took."""
        return

    def validate(self, props: Props) -> list[ConfigValue]:
        """Validate each key. Override it where keys depend on each other; must not block for long."""
        return self.CONFIG.validate(props)


class SourceConnector(_Connector):
    task_class: ClassVar[type["SourceTask"]]

    def exactly_once_support(self, props: Props) -> bool | None:
        """Return whether every record has one source offset it can be repeated from exactly; None: not known
        (KIP-618).
        """
        return None

    def can_define_transaction_boundaries(self, props: Props) -> bool:
        return False

    def alter_offsets(self, props: Props, offsets: Mapping[str, Any]) -> bool:
        """Called when a user alters source offsets, `{json of partition: offset or None}`; raise ConnectError to
        refuse.

        True: they are the only ones this connector has; False: it may keep others elsewhere.
        """
        return False


class SourceTask(ABC):
    @abstractmethod
    def start(self, props: Props, context: SourceTaskContext) -> None:
        """Start the task behind the stored offsets."""

    @abstractmethod
    def poll(self) -> list[SourceRecord]:
        """Return new records in the source's order, a bounded number; empty when none came within at most 1 s."""

    def commit(self) -> None:
        """Take note that offsets were stored, of everything polled and acknowledged by then."""
        return

    def rest(self) -> None:
        """Called repeatedly in place of `poll` while the connector is paused."""
        return

    def commit_record(self, record: SourceRecord, metadata: tuple[str, int, int] | None) -> None:
        """Take note that a record was acknowledged at (topic, partition, offset), or left out: None. May be called from
        another thread.
        """
        return

    @abstractmethod
    def stop(self) -> None:
        """Stop polling. Called from another thread, also while `poll` waits, perhaps without `start`."""


class SinkConnector(_Connector):
    task_class: ClassVar[type["SinkTask"]]

    def alter_offsets(self, props: Props, offsets: Mapping[ConnectPartition, int | None]) -> bool:
        """Alter offsets as a source does; None resets a partition."""
        return False


class SinkTask(ABC):
    #: Set by `start` of a task that needs neither keys nor headers, and has `put_columns`.
    takes_columns = False

    @abstractmethod
    def start(self, props: Props, context: SinkTaskContext) -> None:
        """Start the task; called before the first `open`."""

    @abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write the records, in the order of each partition; called with none, too, so that a task can do periodic
        work.
        """

    def put_columns(self, columns: SinkColumns) -> None:
        """Write records that were converted together, in place of `put`. What a batch was cut into comes in the order
        of each partition, and all of it comes again after RetriableError.
        """
        raise NotImplementedError

    def flush(self, offsets: Mapping[ConnectPartition, int]) -> None:
        """Make everything put so far durable before returning."""
        return

    def pre_commit(self, offsets: Mapping[ConnectPartition, int]) -> Mapping[ConnectPartition, int]:
        """Return the offsets that may be committed: the next to read of each partition, none above that of
        `offsets`.
        """
        self.flush(offsets)
        return offsets

    def open(self, partitions: Collection[ConnectPartition]) -> None:
        """Called when partitions are assigned to this task."""
        return

    def close(self, partitions: Collection[ConnectPartition]) -> None:
        """Called when partitions are revoked, after `pre_commit`, or lost, without it."""
        return

    @abstractmethod
    def stop(self) -> None:
        """Called by the task's own thread after the last `close`. May come without `start`."""


class Converter(ABC):
    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, props: Props, is_key: bool = False) -> None:
        """Configure the converter. Keys come without the prefix `key.converter.` or `value.converter.`. Raises
        ConfigError.
        """
        return

    @abstractmethod
    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        """Return the bytes of a value; None is a null. Raises DataError."""

    @abstractmethod
    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        """Return schema and value of bytes. Raises DataError."""

    def to_columns(self, topic: str, values: Sequence[bytes]) -> tuple[Schema, list[list[Any]]] | None:
        """Return a struct schema and its fields' values, if `to_connect` would give values of that schema for all of
        them without looking at headers, and this is faster. None, or any error: they are converted one by one.
        """
        return None

    def close(self) -> None:
        return


class HeaderConverter(ABC):
    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, props: Props, is_key: bool = False) -> None:
        return

    @abstractmethod
    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: Any) -> bytes | None: ...

    @abstractmethod
    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> tuple[Schema | None, Any]: ...

    def close(self) -> None:
        return


class ValueAndHeaderConverter(Converter, HeaderConverter):
    """A converter of keys and values that converts headers alike, as most of Kafka's do."""

    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.from_connect(topic, (), schema, value)

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> tuple[Schema | None, Any]:
        return self.to_connect(topic, (), data)


class Transformation(ABC):
    VERSION: ClassVar[str] = "1"
    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, props: Props) -> None:
        """Configure the transform. Keys come without the prefix `transforms.<alias>.`. Raises ConfigError."""
        return

    @abstractmethod
    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        """Return the transformed record; None filters it out, with its offset counted. Raises DataError."""

    def close(self) -> None:
        return


class Predicate(ABC):
    VERSION: ClassVar[str] = "1"
    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, props: Props) -> None:
        """Configure the predicate. Keys come without the prefix `predicates.<alias>.`. Raises ConfigError."""
        return

    @abstractmethod
    def test(self, record: ConnectRecord) -> bool: ...

    def close(self) -> None:
        return
