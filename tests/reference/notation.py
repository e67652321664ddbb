"""Schemas and values of Connect as JSON, as `java/Notation.java` reads and writes them."""

import base64
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from broker.common.java.numbers import float_text, to_float32
from broker.connect.api import Field, Header, Schema, SinkRecord, SourceRecord, Struct, Type
from broker.connect.api.schema import DATE, TIME, TIMESTAMP

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INTEGERS = {"int8", "int16", "int32", "int64", "integer"}


def schema_of(node: dict | None) -> Schema | None:
    if node is None:
        return None
    made = Schema(
        Type(node["type"]),
        node.get("optional", False),
        node.get("name"),
        node.get("version"),
        node.get("doc"),
        node.get("parameters", {}),
        None,
        tuple(Field(name, schema_of(schema)) for name, schema in node.get("fields", ())),
        schema_of(node.get("keys")),
        schema_of(node.get("values")),
    )
    if node.get("default") is None:
        return made
    return Schema(**{**made.__dict__, "default": value_of(made, node["default"])})


def value_of(schema: Schema | None, node: list | None) -> Any:
    if node is None:
        return None
    kind, item = node
    inner, keys = (schema.value_schema, schema.key_schema) if schema else (None, None)
    match kind:
        case "boolean" | "string":
            return item
        case "float32":
            return to_float32(float(item)) if schema else float(item)
        case "float64":
            return float(item)
        case "bytes":
            return base64.b64decode(item)
        case "decimal":
            return Decimal(item)
        case "date":
            return _moment(schema, int(item))
        case "list":
            return [value_of(inner, element) for element in item]
        case "map":
            return {value_of(keys, key): value_of(inner, element) for key, element in item}
        case "struct":
            members = {name: value_of(schema.fields_by_name[name].schema, member) for name, member in item.items()}
            return Struct(schema, members)
    return int(item)


def _moment(schema: Schema | None, ms: int) -> Any:
    moment = _EPOCH + timedelta(milliseconds=ms)
    name = schema.name if schema else TIMESTAMP
    return moment.date() if name == DATE else moment.time() if name == TIME else moment


def schema_json(schema: Schema | None) -> dict | None:
    if schema is None:
        return None
    node: dict[str, Any] = {"type": schema.type.value}
    for key in ("optional", "name", "version", "doc"):
        if getattr(schema, key) not in (None, False):
            node[key] = getattr(schema, key)
    if schema.parameters:
        node["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        node["default"] = value_json(schema, schema.default)
    if schema.type is Type.STRUCT:
        node["fields"] = [[field.name, schema_json(field.schema)] for field in schema.fields]
    if schema.type is Type.MAP:
        node["keys"] = schema_json(schema.key_schema)
    if schema.type in (Type.MAP, Type.ARRAY):
        node["values"] = schema_json(schema.value_schema)
    return node


def value_json(schema: Schema | None, value: Any) -> list | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return ["boolean", value]
    if isinstance(value, int):
        return ["integer", str(value)]
    if isinstance(value, float):
        is_single = schema is not None and schema.type is Type.FLOAT32
        return ["float32", float_text(value)] if is_single else ["float64", str(value)]
    if isinstance(value, str):
        return ["string", value]
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", base64.b64encode(value).decode()]
    if isinstance(value, Decimal):
        return ["decimal", str(value)]
    if isinstance(value, date | time):
        return ["date", str(_ms(value))]
    if isinstance(value, Struct):
        fields = value.schema.fields_by_name
        return ["struct", {name: value_json(fields[name].schema, value.without_default(name)) for name in fields}]
    inner, keys = (schema.value_schema, schema.key_schema) if schema else (None, None)
    if isinstance(value, Mapping):
        return ["map", [[value_json(keys, key), value_json(inner, item)] for key, item in value.items()]]
    return ["list", [value_json(inner, item) for item in value]]


def _ms(value: date | time) -> int:
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
    else:
        moment = datetime.combine(_EPOCH.date(), value, UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def normal(node: Any) -> Any:
    """Return an outcome without what Python does not tell apart: widths of numbers, the order of a map's entries."""
    if isinstance(node, dict):
        return {key: normal(item) for key, item in node.items()}
    if not isinstance(node, list):
        return node
    if len(node) == 2 and isinstance(node[0], str):
        kind, item = node
        if kind in _INTEGERS:
            return ["integer", item]
        if kind in ("float32", "float64"):
            return ["float", _float(item, kind)]
        if kind == "map" and isinstance(item, list):
            return ["map", sorted((normal(pair) for pair in item), key=str)]
    return [normal(item) for item in node]


def _float(text: str, kind: str) -> str:
    value = float(text)
    if math.isnan(value):
        return "nan"
    return repr(value)


def record_of(node: dict) -> SourceRecord | SinkRecord:
    keys, values = schema_of(node.get("key_schema")), schema_of(node.get("value_schema"))
    headers = tuple(
        Header(name, schema_of(schema), value_of(schema_of(schema), value))
        for name, schema, value in node.get("headers", ())
    )
    common = (keys, value_of(keys, node.get("key")), values, value_of(values, node.get("value")), node.get("timestamp"))
    if node.get("offset") is None:
        return SourceRecord({}, {}, node["topic"], node.get("partition"), *common, headers)
    return SinkRecord(node["topic"], node["partition"], node["offset"], *common, headers)


def record_json(record: SourceRecord | SinkRecord) -> dict:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "timestamp": record.timestamp_ms,
        "key_schema": schema_json(record.key_schema),
        "key": value_json(record.key_schema, record.key),
        "value_schema": schema_json(record.value_schema),
        "value": value_json(record.value_schema, record.value),
        "headers": [[h.key, schema_json(h.schema), value_json(h.schema, h.value)] for h in record.headers],
    }
