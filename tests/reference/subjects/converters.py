"""Converters and header converters of Connect against Kafka's classes: bytes of values, and values of bytes."""

import base64
import json
import random
from collections.abc import Callable

from broker.connect.api import ConfigError, ConnectError
from broker.connect.plugins import PluginKind, lookup
from tests.reference.comparison import Subject
from tests.reference.notation import schema_json, schema_of, value_json, value_of
from tests.reference.subjects import values

_JSON = "org.apache.kafka.connect.json.JsonConverter"
_STORAGE = "org.apache.kafka.connect.storage."
_NUMBERS = ["Boolean", "Short", "Integer", "Long", "Float", "Double", "ByteArray"]


def ours(case: dict) -> dict:
    """Return what Barnabas makes of a case."""
    kind = PluginKind.HEADER_CONVERTER if case.get("is_header") else PluginKind.CONVERTER
    converter = lookup(case["class"], kind)()
    try:
        converter.configure(case["config"], False)
    except ConfigError:
        return {"refused": "configuration"}
    try:
        return _read(converter, case) if case["op"] == "to_connect" else _written(converter, case)
    except ConnectError:
        return {"refused": "value"}


def _written(converter, case: dict) -> dict:
    schema = schema_of(case.get("schema"))
    value = value_of(schema, case.get("value"))
    if case.get("is_header"):
        data = converter.from_connect_header("t", "h", schema, value)
    else:
        data = converter.from_connect("t", (), schema, value)
    return {"bytes": None if data is None else data.hex()}


def _read(converter, case: dict) -> dict:
    data = base64.b64decode(case["bytes"]) if case.get("bytes") is not None else None
    if "text" in case:
        data = case["text"].encode()
    if case.get("is_header"):
        schema, value = converter.to_connect_header("t", "h", data)
    else:
        schema, value = converter.to_connect("t", (), data)
    return {"schema": schema_json(schema), "value": value_json(schema, value)}


def _json_config(drawn: random.Random) -> dict:
    config = {"schemas.enable": drawn.choice(["true", "false"])}
    if drawn.random() < 0.3:
        config["decimal.format"] = drawn.choice(["NUMERIC", "BASE64", "numeric"])
    return {**config, "replace.null.with.default": "false"} if drawn.random() < 0.2 else config


def _json_written(drawn: random.Random) -> dict:
    case = {"op": "from_connect", "class": _JSON, "config": _json_config(drawn)}
    if drawn.random() < 0.6:
        case["schema"], case["value"] = values.field(drawn)
    else:
        case["value"] = values.schemaless(drawn)
    return case


_SCALARS = [
    "1",
    "0",
    "-1",
    "128",
    "1.0",
    "1.5",
    "1e10",
    "1e400",
    '"a"',
    '"true"',
    "true",
    "null",
    '"AQI="',
    '"A"',
    '"AQ"',
]
_SCALARS += ["2147483648", "9223372036854775808", "0.1", '"NaN"', "12345678901234567890.123", "253402300800000", "-0.0"]
_SCALARS += ['"\\ud800"', "[1]", '{"x":1}', "[]", "{}", '[["a",1]]', '"1.5"', '" 1 "', "86400000", '"A\\nQI="']
_DOCUMENTS = [
    "",
    " ",
    "{",
    "1 2",
    "nul",
    "\ufeff1",
    '{"a":1,"a":2}',
    "[1,]",
    "'a'",
    "NaN",
    "01",
    "1.",
    '"\t"',
    "//x\n1",
]


def _schema_text(drawn: random.Random) -> str:
    kind = drawn.choice(
        ["boolean", "int8", "int16", "int32", "int64", "float", "double", "string", "bytes", "odd", "map"]
    )
    node: dict = {"type": kind}
    if kind == "map":
        node |= {"keys": {"type": drawn.choice(["string", "int32"])}, "values": {"type": "int32"}}
    if drawn.random() < 0.4:
        node["optional"] = drawn.choice([True, False])
    if drawn.random() < 0.3:
        kinds = {"int32": values.DATE, "int64": values.TIMESTAMP, "bytes": values.DECIMAL}
        if kind in kinds:
            node |= {"name": kinds[kind], "version": 1, "parameters": {"scale": "2"}}
    if drawn.random() < 0.15:
        node["default"] = json.loads(drawn.choice(["1", '"a"', "true", "1.5"]))
    if drawn.random() < 0.3:
        node = {"type": "struct", "fields": [{"field": "x", **node}]}
    elif drawn.random() < 0.1:
        node = {"type": "array", "items": node}
    return json.dumps(node)


def _json_read(drawn: random.Random) -> dict:
    config = _json_config(drawn)
    payload = drawn.choice(_SCALARS) if drawn.random() < 0.85 else drawn.choice(_DOCUMENTS)
    if config["schemas.enable"] == "true":
        schema = _schema_text(drawn)
        is_struct = schema.startswith('{"type": "struct')
        payload = (
            f'{{"schema": {schema}, "payload": {f"{{{chr(34)}x{chr(34)}: {payload}}}" if is_struct else payload}}}'
        )
    return {"op": "to_connect", "class": _JSON, "config": config, "text": payload}


def _plain(name: str, drawn: random.Random, is_header: bool = False) -> dict:
    case: dict = {"class": name, "config": {}, **({"is_header": True} if is_header else {})}
    if drawn.random() < 0.5:
        length = drawn.choice([None, 0, 1, 2, 4, 8, 9])
        if name.endswith(("StringConverter", "SimpleHeaderConverter")):
            data = drawn.choice([*values.TEXTS, *_HEADERS]).encode()
        else:
            data = drawn.randbytes(length or 0)
        return {**case, "op": "to_connect", "bytes": None if length is None else base64.b64encode(data).decode()}
    if drawn.random() < 0.6:
        case["schema"], case["value"] = values.field(drawn)
    else:
        case["value"] = values.schemaless(drawn)
    return {**case, "op": "from_connect"}


_HEADERS = [
    "[1, 2.5]",
    '{"a":1,"b":2}',
    "[null,1]",
    '["a"]',
    '["a",1]',
    "{1:2}",
    '{"a":null}',
    "[[1],[2]]",
    "14:34:54.346Z",
]
_HEADERS += [
    "2023-11-14T22:13:20.123Z",
    "5:30",
    "true}",
    " true ",
    "1e3",
    "1.0",
    "[1,]",
    "[",
    "{}",
    "[]",
    "\\:",
    "12 13",
]
_HEADERS += [
    '"quoted"',
    "1,2",
    "[2023-11-14]",
    '["2023-11-14"]',
    "-",
    "+5",
    "1e999",
    "99999999999999999999",
    "0x1",
    "5f",
]


def _whole(name: str) -> Callable[[random.Random], dict]:
    return lambda drawn: _plain(name, drawn)


CONVERTERS = [
    Subject("JsonConverter_written", _json_written, ours, 1_000),
    Subject("JsonConverter_read", _json_read, ours, 1_500),
    Subject("StringConverter", _whole(f"{_STORAGE}StringConverter"), ours, 400),
    Subject("SimpleHeaderConverter", lambda drawn: _plain(f"{_STORAGE}SimpleHeaderConverter", drawn, True), ours, 800),
    Subject(
        "NumberConverters",
        lambda drawn: _plain(f"org.apache.kafka.connect.converters.{drawn.choice(_NUMBERS)}Converter", drawn),
        ours,
        800,
    ),
    Subject(
        "header_converters",
        lambda drawn: _plain(
            drawn.choice(
                [_JSON, f"{_STORAGE}StringConverter", "org.apache.kafka.connect.converters.ByteArrayConverter"]
            ),
            drawn,
            is_header=True,
        ),
        ours,
        300,
    ),
]
