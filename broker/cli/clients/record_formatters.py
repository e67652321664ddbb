"""What kafka-console-consumer makes of records, by the formatter that was named and its properties. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from broker.cli.clients.consumed import ConsumedRecord, Formatter
from broker.cli.clients.deserializers import Deserializer, deserializer
from broker.cli.frame.declaration import CommandError

#: kafka.tools.X of before, org.apache.kafka.tools.consumer.X of today.
_OLD_PACKAGE, _PACKAGE = "kafka.tools.", "org.apache.kafka.tools.consumer."
DEFAULT_FORMATTER = _PACKAGE + "DefaultMessageFormatter"
_TIMESTAMP_TYPES = ("NO_TIMESTAMP", "CreateTime:%d", "LogAppendTime:%d")

Column = Callable[[ConsumedRecord], bytes]


def formatter(class_name: str, properties: Mapping[str, str]) -> tuple[Formatter, str]:
    """Return the formatter, and a warning if its name is an old one. Raises CommandError."""
    warning = ""
    if class_name.startswith(_OLD_PACKAGE) and class_name.removeprefix(_OLD_PACKAGE) in _BY_CLASS:
        short = class_name.removeprefix(_OLD_PACKAGE)
        warning = (
            f"WARNING: {class_name} is deprecated and will be removed in the next major release. "
            f"Please use {_PACKAGE}{short} instead"
        )
        return _BY_CLASS[short](properties), warning
    short = class_name.removeprefix(_PACKAGE)
    if short in _BY_CLASS:
        return _BY_CLASS[short](properties), warning
    # Only here: it brings half the coordinator, and nearly nobody asks for it.
    from broker.cli.clients.coordinator_formatters import coordinator_formatter

    record_formatter = coordinator_formatter(class_name)
    if record_formatter is None:
        raise CommandError(f"Class {class_name} could not be found; formatters of your own cannot be loaded.")
    return record_formatter, warning


def _default(properties: Mapping[str, str]) -> Formatter:
    end = properties.get("line.separator", "\n").encode()
    columns = _columns(properties)
    null = properties.get("null.literal", "null").encode()
    if not columns:
        return _nothing({})
    if len(columns) == 1 and _asks(properties, "print.value", default=True) and "value.deserializer" not in properties:
        return lambda records: _values(records, null, end)
    separator = properties.get("key.separator", "\t").encode()
    return lambda records: b"".join(
        [separator.join([column(record) for column in columns]) + end for record in records]
    )


def _values(records: Sequence[ConsumedRecord], null: bytes, end: bytes) -> bytes:
    """Return values only, the most used format, for speed in bulk."""
    values = [null if (value := record.value()) is None else value for record in records]
    values.append(b"")
    return end.join(values)


def _columns(properties: Mapping[str, str]) -> list[Column]:
    """Yield the columns in Kafka's order."""
    null = properties.get("null.literal", "null").encode()
    columns: list[tuple[str, Column]] = [
        ("timestamp", _timestamp),
        ("partition", lambda record: b"Partition:%d" % record.partition()),
        ("offset", lambda record: b"Offset:%d" % record.offset()),
        ("headers", _headers(properties, null)),
        ("key", _field(lambda record: record.key(), _named(properties, "key"), null)),
        ("value", _field(lambda record: record.value(), _named(properties, "value"), null)),
    ]
    return [column for name, column in columns if _asks(properties, f"print.{name}", default=name == "value")]


def _asks(properties: Mapping[str, str], name: str, *, default: bool) -> bool:
    """Return a boolean property as Java reads it: anything but `true` is false."""
    return properties[name].strip().lower() == "true" if name in properties else default


def _named(properties: Mapping[str, str], what: str) -> Deserializer:
    name = properties.get(f"{what}.deserializer")
    return deserializer(name) if name else bytes


def _timestamp(record: ConsumedRecord) -> bytes:
    kind, at_ms = record.timestamp()
    text = _TIMESTAMP_TYPES[kind]
    return (text % at_ms if kind else text).encode()


def _headers(properties: Mapping[str, str], null: bytes) -> Column:
    separator = properties.get("headers.separator", ",").encode()
    read = _named(properties, "headers")

    def shown(record: ConsumedRecord) -> bytes:
        pairs = record.headers()
        if not pairs:
            return b"NO_HEADERS"
        return separator.join(name.encode() + b":" + (null if data is None else read(data)) for name, data in pairs)

    return shown


def _field(part: Callable[[ConsumedRecord], bytes | None], read: Deserializer, null: bytes) -> Column:
    def shown(record: ConsumedRecord) -> bytes:
        data = part(record)
        return null if data is None else read(data)

    return shown


def _nothing(_properties: Mapping[str, str]) -> Formatter:
    return lambda _records: b""


def _checksum(_properties: Mapping[str, str]) -> Formatter:
    """Format checksums as Kafka until 2.x did; records have had none of their own since 0.11."""

    def shown(records: Iterable[ConsumedRecord]) -> bytes:
        return "".join(f"topic:{record.topic()}, checksum:-1\n" for record in records).encode()

    return shown


#: What the logging formatter logs besides is below the level of Kafka's tools.
_BY_CLASS: dict[str, Callable[[Mapping[str, str]], Formatter]] = {
    "DefaultMessageFormatter": _default,
    "LoggingMessageFormatter": _default,
    "NoOpMessageFormatter": _nothing,
    "ChecksumMessageFormatter": _checksum,
}
