"""Transforms and predicates of Connect against Kafka's classes."""

import json
import random
from collections.abc import Callable
from functools import partial

from broker.common.bounded_patterns import TooManyWays
from broker.connect.api import ConfigError, ConnectError
from broker.connect.plugins import PluginKind, lookup
from tests.reference.comparison import Subject
from tests.reference.notation import record_json, record_of
from tests.reference.subjects import values

_PACKAGE = "org.apache.kafka.connect.transforms."
_TYPES = ["int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string"]
_LOOSE = "replace.null.with.default"
_FORMATS = [
    "yyyy-MM-dd",
    "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
    "YYYY-ww-u",
    "dd MMM yy hh:mm a z",
    "yyyyMMddHHmmss",
    "G D F W",
]


def ours(case: dict) -> dict:
    """Return what Barnabas makes of a case."""
    kind = PluginKind(case["op"].replace("transform", "transformation"))
    plugin = lookup(case["class"], kind)()
    try:
        plugin.CONFIG.parse(case["config"])
        plugin.configure(case["config"])
    except ConfigError:
        return {"refused": "configuration"}
    record = record_of(case["record"])
    try:
        if kind is PluginKind.PREDICATE:
            return {"holds": plugin.test(record)}
        changed = plugin.apply(record)
        return {"record": None if changed is None else record_json(changed)}
    except (ConnectError, TooManyWays):
        return {"refused": "value"}


def _field(drawn: random.Random) -> str:
    return drawn.choice([*values.NAMES, *values.NAMES, "missing"])


def _cast(drawn: random.Random) -> dict:
    if drawn.random() < 0.5:
        return {"spec": drawn.choice([*_TYPES, drawn.choice([" INT8 ", "bytes", "odd", "x:int8,string"])])}
    return {"spec": ",".join(f"{_field(drawn)}{drawn.choice([':', ':', ' : '])}{drawn.choice(_TYPES)}" for _ in "ab")}


def _timestamps(drawn: random.Random) -> dict:
    config = {"target.type": drawn.choice(["string", "unix", "Date", "Time", "Timestamp", "string"])}
    if drawn.random() < 0.8:
        config["format"] = drawn.choice(_FORMATS)
    if drawn.random() < 0.5:
        config["unix.precision"] = drawn.choice(["seconds", "milliseconds", "microseconds", "nanoseconds"])
    return config if drawn.random() < 0.5 else {**config, "field": _field(drawn)}


_TIMES = [
    *("2023-11-14", "2023-02-30", " 2023-11-14", "2023-11-14T22:13:20.123Z", "20231114221320", "2023-46-2"),
    *(
        "14 Nov 23 10:13 PM UTC",
        "14 Nov 23 10:13 PM GMT+02:00",
        "14 nov 99 10:13 am PST",
        "x",
        "AD 318 2 3",
        "1500-01-01",
    ),
]
_NUMBERS = [0, 1_700_000_000, 1_700_000_000_123, -1, -1_500, 1_700_000_000_123_456, 253_402_300_800_000, 2**62]


def _of_time(drawn: random.Random, node: dict, config: dict) -> None:
    schema, value = drawn.choice(
        [
            ({"type": "string"}, ["string", drawn.choice(_TIMES)]),
            ({"type": "int64"}, ["int64", str(drawn.choice(_NUMBERS))]),
            ({"type": "int64", "name": values.TIMESTAMP, "version": 1}, ["date", str(drawn.choice(values.MOMENTS))]),
            (
                {"type": "int32", "name": values.DATE, "version": 1},
                ["date", str(drawn.randrange(-9, 20_000) * 86_400_000)],
            ),
            ({"type": "int32", "name": values.TIME, "version": 1}, ["date", str(drawn.randrange(86_400_000))]),
            ({"type": "boolean"}, ["boolean", True]),
        ]
    )
    is_map = bool(config.get("field"))
    node.pop("value_schema", None)
    if drawn.random() < 0.5:
        if drawn.random() < 0.3:
            schema["optional"] = True
        node["value_schema"] = {"type": "struct", "fields": [["x", schema]]} if is_map else schema
        node["value"] = ["struct", {"x": value}] if is_map else value
    else:
        node["value"] = ["map", [[["string", "x"], value]]] if is_map else value


def _insert(drawn: random.Random) -> dict:
    config = {
        f"{kind}.field": f"{kind}{drawn.choice(['', '', '?', '!'])}"
        for kind in drawn.sample(["topic", "partition", "offset", "timestamp", "static"], drawn.randrange(3))
    }
    return {**config, **({"static.value": "v"} if drawn.random() < 0.8 else {})}


def _mask(drawn: random.Random) -> dict:
    config = {"fields": ",".join({_field(drawn), _field(drawn)})}
    return {**config, "replacement": drawn.choice(["5", "abc", "-1.5", "300", ""])} if drawn.random() < 0.5 else config


def _metadata(drawn: random.Random) -> dict:
    choices = {"schema.name": "n2", "schema.version": drawn.choice(["3", "x", "1_0"])}
    return {key: value for key, value in choices.items() if drawn.random() < 0.7}


def _regex(drawn: random.Random) -> dict:
    patterns = ["(.*?)(-v\\d+)?", "(or)(.*)", "\\p{Alpha}+", "\\Qorders\\E", "[a-z&&[^b]]+", "(?i)ORDERS", "o(?<n>r).*"]
    replacements = ["$1", "x$2", "${n}", "\\$", "$1$", "lit", "$12"]
    return {"regex": drawn.choice([*patterns, "("]), "replacement": drawn.choice(replacements)}


_CONFIGS: dict[str, Callable[[random.Random], dict]] = {
    "Cast$Value": _cast,
    "TimestampConverter$Value": _timestamps,
    "ExtractField$Value": lambda drawn: {
        "field": drawn.choice([_field(drawn), f"{_field(drawn)}.{_field(drawn)}", "`x`.y", "`x", "x."]),
        "field.syntax.version": drawn.choice(["V1", "V2", "v2", "V3"]),
    },
    "Flatten$Value": lambda drawn: {"delimiter": drawn.choice([".", "_", "", "--"])},
    "HeaderFrom$Value": lambda drawn: {
        "fields": _field(drawn),
        "headers": drawn.choice(["h", "h", "h,i"]),
        "operation": drawn.choice(["move", "copy"]),
    },
    "HoistField$Value": lambda drawn: {"field": drawn.choice(["f", ""])},
    "InsertField$Value": _insert,
    "MaskField$Value": _mask,
    "ReplaceField$Value": lambda drawn: {
        key: text
        for key, text in (
            ("exclude", _field(drawn)),
            ("include", "x,y"),
            ("renames", drawn.choice(["x:q", "x:y", "x", "x:a,x:b"])),
        )
        if drawn.random() < 0.5
    },
    "SetSchemaMetadata$Value": _metadata,
    "ValueToKey": lambda drawn: {"fields": ",".join({_field(drawn), "x"})},
    "RegexRouter": _regex,
    "TimestampRouter": lambda drawn: {
        "timestamp.format": drawn.choice([*_FORMATS, "yyyyMMdd", "b"]),
        "topic.format": drawn.choice(["${topic}-${timestamp}", "x", "${topic}$", ""]),
    },
    "InsertHeader": lambda drawn: {
        "header": "i",
        "value.literal": drawn.choice([*values.TEXTS, "1970-01-01", "{a:1}"]),
    },
    "DropHeaders": lambda drawn: {"headers": drawn.choice(["h", "i", "h,i"])},
    "Filter": lambda drawn: {},
}
_WITH_DEFAULTS = {
    "ExtractField",
    "HeaderFrom",
    "InsertField",
    "MaskField",
    "ReplaceField",
    "TimestampConverter",
    "Cast",
    "ValueToKey",
    "HoistField",
}


def _case(name: str, drawn: random.Random) -> dict:
    config = _CONFIGS[name](drawn)
    simple = name.partition("$")[0]
    is_whole = simple in ("Cast", "TimestampConverter", "HoistField", "SetSchemaMetadata") and "field" not in config
    node = values.record(drawn, whole=is_whole and ":" not in config.get("spec", ""))
    if simple == "TimestampConverter":
        _of_time(drawn, node, config)
    if simple in _WITH_DEFAULTS and drawn.random() < 0.2:
        config[_LOOSE] = drawn.choice(["true", "false"])
    return json.loads(json.dumps({"op": "transform", "class": _PACKAGE + name, "config": config, "record": node}))


def _predicate(drawn: random.Random) -> dict:
    name, config = drawn.choice(
        [
            ("HasHeaderKey", {"name": drawn.choice(["h", "i"])}),
            ("RecordIsTombstone", {}),
            ("TopicNameMatches", {"pattern": _regex(drawn)["regex"]}),
        ]
    )
    return {
        "op": "predicate",
        "class": f"{_PACKAGE}predicates.{name}",
        "config": config,
        "record": values.record(drawn),
    }


_COUNTS = {"Cast": 2_000, "TimestampConverter": 1_500, "Filter": 5, "DropHeaders": 50, "HoistField": 100}
TRANSFORMS = [
    Subject(name.partition("$")[0], partial(_case, name), ours, _COUNTS.get(name.partition("$")[0], 300))
    for name in _CONFIGS
]
PREDICATES = Subject("predicates", _predicate, ours, 200)
