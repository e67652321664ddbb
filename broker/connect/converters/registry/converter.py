"""What the converters of all formats do: find the id of a schema or the schema of an id, and keep what they found."""

import time
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from broker.connect.api import ConfigDef, Converter, DataError, Header, Schema
from broker.connect.api.plugin import Props
from broker.connect.converters.registry.client import TaskRegistryClient
from broker.connect.converters.registry.framing import HEAD_BYTES, head, split
from broker.connect.converters.registry.settings import CONFIG, ConverterSettings, read_settings
from broker.registry.errors import InvalidSchema, RegistryError
from broker.registry.schema import Content, NamedSchema

T = TypeVar("T")


class Codec(Protocol):
    """A registered schema, understood: values of Connect to bytes and back. Both raise DataError.

    One that has `columns(payloads)` reads many at once, as a converter's `to_columns`."""

    def encode(self, value: Any) -> bytes: ...

    def decode(self, data: bytes) -> tuple[Schema, Any]: ...


@dataclass(frozen=True)
class EncodedSchema:
    """A schema of Connect in the registry's words; `name` is what strategies by record call it."""

    text: str
    name: str | None


class RegistryConverter(Converter):
    TYPE: ClassVar[str]
    CONFIG: ClassVar[ConfigDef] = CONFIG

    def configure(self, props: Props, is_key: bool = False) -> None:
        settings, values = read_settings(self.CONFIG, props, is_key)
        self._is_key, self._settings = is_key, settings
        self._read_own(values)
        self._registry = self._new_registry(settings)
        size = settings.cache_size
        self._writers: Cache[tuple[Schema, bytes, Codec, float]] = Cache(size)
        self._readers: Cache[Codec] = Cache(size)

    def _new_registry(self, settings: ConverterSettings) -> TaskRegistryClient:
        return TaskRegistryClient(settings)

    def _read_own(self, values: dict[str, Any]) -> None:
        """Parse the format's own settings."""
        return

    @abstractmethod
    def _say(self, schema: Schema) -> EncodedSchema:
        """Raises DataError for what the format has no words for."""

    @abstractmethod
    def _understand(self, text: str, referred: Sequence[NamedSchema], said_by: Schema | None) -> Codec:
        """Return the codec. `said_by`: the schema of values to be written. Raises DataError, InvalidSchema."""

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        """Serialize a value; null is a tombstone whatever its schema."""
        if schema is None:
            if value is None:
                return None
            raise DataError(f"{type(self).__name__} writes values with a schema; this one has none")
        if value is None and schema.default is None:
            if not schema.optional:
                raise DataError("Invalid value: null used for required schema")
            return None
        _, prefix, codec, _ = self._writer(topic, schema)
        return prefix + codec.encode(schema.default if value is None else value)

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        if data is None:
            return None, None
        schema_id, payload = split(data)
        return self._readers.get_or_make(schema_id, lambda: self._reader(schema_id)).decode(payload)

    def to_columns(self, topic: str, values: Sequence[bytes]) -> tuple[Schema, list[list[Any]]] | None:
        first = values[0][:HEAD_BYTES]
        if not all(value.startswith(first) for value in values):
            return None
        schema_id, _ = split(values[0])
        columns = getattr(self._readers.get_or_make(schema_id, lambda: self._reader(schema_id)), "columns", None)
        decoded: tuple[Schema, list[list[Any]]] | None = columns and columns([value[HEAD_BYTES:] for value in values])
        return decoded

    def close(self) -> None:
        self._registry.close()

    def _writer(self, topic: str, schema: Schema) -> tuple[Schema, bytes, Codec, float]:
        """Return the writer, cached by identity: comparing schemas costs more than writing. The cache keeps the schema
        alive, so its id stays its own.
        """
        key = topic, id(schema)
        known = self._writers.get(key)
        if known is None or known[3] < time.monotonic():
            known = self._new_writer(topic, schema)
            self._writers.put(key, known)
        return known

    def _new_writer(self, topic: str, schema: Schema) -> tuple[Schema, bytes, Codec, float]:
        written = self._say(schema)
        subject = self._settings.subject(topic, self._is_key, written.name)
        content = Content(self.TYPE, written.text)
        if self._settings.uses_latest and not self._settings.registers:
            latest = self._registry.latest(subject)
            until = time.monotonic() + self._settings.latest_ttl_s
            return schema, head(latest.id), self._codec(latest.content, schema), until
        codec = self._codec(content, schema)
        find = self._registry.register if self._settings.registers else self._registry.look_up
        return schema, head(find(subject, content)), codec, float("inf")

    def _reader(self, schema_id: int) -> Codec:
        return self._codec(self._registry.by_id(schema_id), None)

    def _codec(self, content: Content, said_by: Schema | None) -> Codec:
        if content.type != self.TYPE:
            raise DataError(f"The schema is no {self.TYPE} but {content.type}")
        try:
            return self._understand(content.text, self._registry.referred(content), said_by)
        except (InvalidSchema, RegistryError) as error:
            raise DataError(f"Invalid schema: {error}") from None


class Cache(Generic[T]):
    """So many are kept; what was not asked for longest goes first."""

    def __init__(self, size: int):
        self._size = size
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> T | None:
        value = self._kept.get(key)
        if value is not None:
            self._kept.move_to_end(key)
        return value

    def put(self, key: Hashable, value: T) -> None:
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def get_or_make(self, key: Hashable, find: Callable[[], T]) -> T:
        value = self.get(key)
        if value is None:
            value = find()
            self.put(key, value)
        return value
