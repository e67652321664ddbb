"""Converters, transforms and predicates of one connector, and each record's way through them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from broker.common.java.numbers import parse_boolean, trim
from broker.common.logs import logger
from broker.connect.api import (
    ConnectError,
    ConnectRecord,
    Header,
    Predicate,
    RetriableError,
    Schema,
    SinkColumns,
    SinkRecord,
    SourceRecord,
    Transformation,
)
from broker.connect.plugins import PluginKind, lookup
from broker.connect.tasks.retriable import ClusterUnavailable
from broker.connect.tasks.tolerance import RecordFailure, Tolerance
from broker.connect.traces import error_text

_log = logger("broker.connect")
Produced = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]


class Pipeline:
    """Converts and transforms records of one task, on its thread. A stage is named as Kafka names it."""

    def __init__(self, worker_props: Mapping[str, str], props: Mapping[str, str], tolerance: Tolerance):
        """Raises ConnectError."""
        self._tolerance = tolerance
        self._key = _converter("key.converter", True, PluginKind.CONVERTER, worker_props, props)
        self._value = _converter("value.converter", False, PluginKind.CONVERTER, worker_props, props)
        self._props = {"header.converter": "SimpleHeaderConverter", **worker_props}, props
        self._transforms = _transforms(props)

    @cached_property
    def _header(self) -> Any:
        """Most records have no headers."""
        return _converter("header.converter", False, PluginKind.HEADER_CONVERTER, *self._props)

    def close(self) -> None:
        for value in (self._key, self._value, *(transform for transform, _ in self._transforms)):
            value.close()

    def source(self, record: SourceRecord) -> tuple[SourceRecord, Produced] | RecordFailure | None:
        """Transform and convert a source record; None if a transform filtered it out."""
        changed = self._transformed(record) if self._transforms else record
        if changed is None or isinstance(changed, RecordFailure):
            return changed
        topic, headers = changed.topic, changed.headers
        stage, plugin = "HEADER_CONVERTER", self._key
        try:
            raw = [
                (header.key, self._header.from_connect_header(topic, header.key, header.schema, header.value))
                for header in headers
            ]
            stage, plugin = "KEY_CONVERTER", self._key
            key = self._made(plugin, topic, headers, changed.key_schema, changed.key)
            stage, plugin = "VALUE_CONVERTER", self._value
            value = self._made(plugin, topic, headers, changed.value_schema, changed.value)
        except Exception as error:  # a plugin's code: whatever it raises is this record's failure
            return self._failure(stage, plugin, error)
        return changed, (key, value, raw)

    def sink(self, message: Any) -> SinkRecord | RecordFailure | None:
        """Convert and transform a consumed message; None if a transform filtered it out."""
        topic = message.topic()
        stage, plugin = "HEADER_CONVERTER", self._key
        try:
            raw = message.headers()
            headers = tuple(self._headers(topic, raw)) if raw else ()
            stage, plugin = "KEY_CONVERTER", self._key
            key_schema, key = self._converted(plugin, topic, headers, message.key())
            stage, plugin = "VALUE_CONVERTER", self._value
            value_schema, value = self._converted(plugin, topic, headers, message.value())
        except Exception as error:  # a plugin's code: whatever it raises is this record's failure
            return self._failure(stage, plugin, error, f" of {topic}-{message.partition()}@{message.offset()}")
        kind, timestamp = message.timestamp()
        record = SinkRecord(
            topic, message.partition(), message.offset(), key_schema, key, value_schema, value,
            timestamp if kind else None, headers,
        )  # fmt: skip
        changed: SinkRecord | RecordFailure | None = self._transformed(record) if self._transforms else record
        return changed

    def columns(self, messages: Sequence[Any]) -> SinkColumns | None:
        """Convert messages of one partition together; None if that is not possible for all of them. None: `sink` says
        of each what becomes of it, and converts it once more.
        """
        values = [message.value() for message in messages]
        if self._transforms or None in values:
            return None
        topic = messages[0].topic()
        try:
            self._try_keys(topic, messages)
            columns = self._value.to_columns(topic, values)
        except Exception as error:  # a plugin's code: whose failure it is, `sink` finds out
            _log.debug("records are converted one by one", topic=topic, reason=error_text(error))
            return None
        if columns is None:
            return None
        timestamps = [message.timestamp() for message in messages]
        return SinkColumns(
            topic, messages[0].partition(), [message.offset() for message in messages],
            [timestamp if kind else None for kind, timestamp in timestamps], *columns,
        )  # fmt: skip

    def _try_keys(self, topic: str, messages: Sequence[Any]) -> None:
        """Raises what converters raise."""
        keys = [message.key() for message in messages]
        are_columns = None not in keys and self._key.to_columns(topic, keys) is not None
        for message, key in zip(messages, keys, strict=True):
            raw = message.headers()
            headers = tuple(self._headers(topic, raw)) if raw else ()
            if not are_columns:
                self._key.to_connect(topic, headers, key)

    def _failure(self, stage: str, plugin: Any, error: Exception, place: str = "") -> RecordFailure:
        """Return the failure. One that a later try may convert is never skipped by errors.tolerance: the task starts
        again.
        """
        if isinstance(error, RetriableError):
            sentence = f"{stage} by {type(plugin).__name__}{place} is not possible for now: {error}"
            raise ClusterUnavailable(sentence) from error
        if stage == "HEADER_CONVERTER":
            return RecordFailure(
                stage, self._props[1].get("header.converter") or self._props[0]["header.converter"], error
            )
        return RecordFailure(stage, type(plugin).__name__, error)

    def _headers(self, topic: str, headers: Any) -> list[Header]:
        return [Header(name, *self._header.to_connect_header(topic, name, data)) for name, data in headers or ()]

    def _transformed(self, record: Any) -> Any:
        for transform, wanted in self._transforms:
            try:
                if wanted is None or wanted(record):
                    record = self._retried(lambda: transform.apply(record))  # noqa: B023 (called at once)
            except Exception as error:  # a plugin's code: whatever it raises is this record's failure
                return RecordFailure("TRANSFORMATION", type(transform).__name__, error)
            if record is None:
                return None
        return record

    def _converted(self, converter: Any, topic: str, headers: tuple[Header, ...], data: bytes | None) -> Any:
        """As `_retried`, for what is called twice for each record that is read."""
        try:
            return converter.to_connect(topic, headers, data)
        except RetriableError as error:
            return self._tolerance.retry(lambda: converter.to_connect(topic, headers, data), error)

    def _made(self, converter: Any, topic: str, headers: tuple[Header, ...], schema: Schema | None, value: Any) -> Any:
        try:
            return converter.from_connect(topic, headers, schema, value)
        except RetriableError as error:
            return self._tolerance.retry(lambda: converter.from_connect(topic, headers, schema, value), error)

    def _retried(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except RetriableError as error:
            return self._tolerance.retry(call, error)


def _converter(
    name: str, is_key: bool, kind: PluginKind, worker_props: Mapping[str, str], props: Mapping[str, str]
) -> Any:
    """Return the connector's converter if it names one, with its own settings alone; else the worker's."""
    source = props if props.get(name) else worker_props
    converter = lookup(source[name], kind)()
    converter.configure(_below(source, f"{name}."), is_key)
    return converter


def _transforms(props: Mapping[str, str]) -> list[tuple[Transformation, Callable[[ConnectRecord], bool] | None]]:
    transforms = []
    aliases = _list(props.get("transforms"))
    settings = _below_each(props, "transforms.", aliases)
    predicates = _below_each(
        props, "predicates.", [trim(setting.get("predicate", "")) for setting in settings.values()]
    )
    for alias in aliases:
        own = settings[alias]
        transform: Transformation = lookup(_named(own, "type", f"transforms.{alias}"), PluginKind.TRANSFORMATION)()
        transform.configure({k: v for k, v in own.items() if k not in ("type", "predicate", "negate")})
        transforms.append((transform, _condition(own, predicates)))
    return transforms


def _condition(
    own: Mapping[str, str], predicates: Mapping[str, Mapping[str, str]]
) -> Callable[[ConnectRecord], bool] | None:
    alias = trim(own.get("predicate", ""))
    if not alias:
        return None
    settings = predicates[alias]
    predicate: Predicate = lookup(_named(settings, "type", f"predicates.{alias}"), PluginKind.PREDICATE)()
    predicate.configure({k: v for k, v in settings.items() if k != "type"})
    negated = parse_boolean(trim(own.get("negate", "false")))
    return lambda record: predicate.test(record) is not negated


def _named(props: Mapping[str, str], key: str, where: str) -> str:
    if key not in props:
        raise ConnectError(f'Missing required configuration "{where}.{key}" which has no default value.')
    return props[key]


def _below(props: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in props.items() if key.startswith(prefix)}


def _below_each(props: Mapping[str, str], prefix: str, aliases: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the properties below each alias, as `_below` for prefix, alias and a dot: each property is looked at
    once.
    """
    grouped: dict[str, dict[str, str]] = {alias: {} for alias in aliases}
    lengths = sorted({len(alias) for alias in grouped})
    for key, value in _below(props, prefix).items():
        for length in lengths:
            if key[length : length + 1] == "." and (own := grouped.get(key[:length])) is not None:
                own[key[length + 1 :]] = value
    return grouped


def _list(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]
