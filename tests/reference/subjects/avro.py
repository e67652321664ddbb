"""The registry's Avro against Avro's own Java library: what parses and how it is printed, and what reads what."""

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

from broker.registry.avro.compatibility import incompatibilities
from broker.registry.avro.parsing import parse
from broker.registry.avro.printing import canonical
from broker.registry.errors import InvalidSchema
from tests.reference.comparison import Subject

_PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
_NAMES = ["A", "B", "C", "a", "b", "_x1"]
_ODD_NAMES = ["1a", "a-b", "", "ä", "int", "a.b", ".a", "a..b", "record"]
_SPACES = ["n", "n.m", "", "x"]
_DEFAULTS: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 1.5, 0.1, 1e10, 1e-7, 100.0, 123456789.25, 1e300),
    *(
        "",
        "a",
        "ü",
        "NaN",
        "Infinity",
        "-Infinity",
        "1.5",
        "x",
        "\u0000ÿ",
        [],
        [1],
        ["a", "b"],
        {},
        {"a": 1},
        {"a": "x"},
    ),
]
_LOGICAL = [
    {"type": "int", "logicalType": "date"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
    {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 4},
    {"type": "string", "logicalType": "uuid"},
    {"type": "string", "logicalType": "date"},
]
_KIND = re.compile(r"\{errorType:'(\w+)'.*?path '([^']*)'")


def ours(case: dict) -> dict:
    """Return what Barnabas makes of a case."""
    try:
        if case["op"] == "avro-text":
            return {"text": canonical(parse(case["text"])[0])}
        reader, writer = parse(case["reader"])[0], parse(case["writer"])[0]
    except InvalidSchema:
        return {"refused": "value"}
    messages = incompatibilities(reader, writer)
    if any("is several of the writer" in message for message in messages):
        return {"compatible": False, "kinds": ["AMBIGUOUS"]}
    kinds = sorted({f"{kind} {place}" for kind, place in map(_of, messages)})
    return {"compatible": not kinds, "kinds": kinds}


def _of(message: str) -> tuple[str, str]:
    match = _KIND.match(message)
    assert match is not None, message
    return match.group(1), match.group(2)


class SchemaMaker:
    """Draws schemas; `oddity` is the chance that something in one is not as it should be."""

    def __init__(self, drawn: random.Random, oddity: float):
        self._drawn, self._oddity = drawn, oddity
        self._defined: list[str] = []

    def _is_odd(self) -> bool:
        return self._drawn.random() < self._oddity

    def _name(self) -> str:
        return self._drawn.choice(_ODD_NAMES if self._is_odd() else _NAMES)

    def type(self, depth: int = 0) -> Any:
        choice = self._drawn.random()
        if depth > 3 or choice < 0.4:
            return self._plain()
        if choice < 0.5 and self._defined:
            return self._drawn.choice(self._defined)
        if choice < 0.6:
            return {"type": "array", "items": self.type(depth + 1)}
        if choice < 0.67:
            return {"type": "map", "values": self.type(depth + 1)} | self._properties()
        if choice < 0.8:
            return self._union(depth)
        return self._named(depth)

    def _plain(self) -> Any:
        choice = self._drawn.random()
        if choice < 0.75:
            return self._drawn.choice(_PRIMITIVES)
        if choice < 0.9:
            return dict(self._drawn.choice(_LOGICAL))
        return {"type": self._drawn.choice(_PRIMITIVES)} | self._properties()

    def _union(self, depth: int) -> list[Any]:
        branches = [self.type(depth + 1) for _ in range(self._drawn.randrange(1, 4))]
        kept: dict[str, Any] = {}
        for branch in branches:
            if not isinstance(branch, list) or self._is_odd():
                kept.setdefault(_label(branch), branch)
        return branches if self._is_odd() else list(kept.values())

    def _named(self, depth: int) -> dict[str, Any]:
        name = self._name()
        if not self._is_odd():
            name = f"{name}{len(self._defined)}"
        schema: dict[str, Any] = {
            "type": self._drawn.choice(["record", "record", "record", "enum", "fixed", "error"]),
            "name": name,
        }
        if self._drawn.random() < 0.3:
            schema["namespace"] = self._drawn.choice(_SPACES)
        if self._drawn.random() < 0.2:
            schema["doc"] = self._drawn.choice(["", 'a "doc" ü', "x"])
        if self._drawn.random() < 0.2:
            schema["aliases"] = [self._name() for _ in range(self._drawn.randrange(3))]
        self._defined.append(name if "namespace" not in schema else f"{schema['namespace']}.{name}".lstrip("."))
        match schema["type"]:
            case "enum":
                schema["symbols"] = [f"{symbol}" for symbol in self._drawn.sample(_NAMES, self._drawn.randrange(1, 4))]
                if self._drawn.random() < 0.3:
                    schema["default"] = self._drawn.choice([*schema["symbols"], *(["Z"] if self._is_odd() else [])])
            case "fixed":
                schema["size"] = self._drawn.choice([0, 1, 16, *([-1, "4", 1.5] if self._is_odd() else [])])
            case _:
                names = self._drawn.sample(_NAMES, self._drawn.randrange(0, 4))
                schema["fields"] = [self._field(name, depth) for name in names]
        return self._shuffled(schema | self._properties())

    def _field(self, name: str, depth: int) -> dict[str, Any]:
        field: dict[str, Any] = {
            "name": self._drawn.choice(_ODD_NAMES) if self._is_odd() else name,
            "type": self.type(depth + 1),
        }
        if self._drawn.random() < 0.4:
            field["default"] = (
                self._drawn.choice(_DEFAULTS) if self._is_odd() else default_of(self._drawn, field["type"])
            )
            if field["default"] is _NONE:
                del field["default"]
        if self._drawn.random() < 0.1:
            field["order"] = self._drawn.choice(
                ["ascending", "descending", "ignore", "Ignore", *(["x"] if self._is_odd() else [])]
            )
        if self._drawn.random() < 0.1:
            field["doc"] = "d"
        if self._drawn.random() < 0.15:
            field["aliases"] = self._drawn.sample(["z1", "z2", "z3"], 2)
        return self._shuffled(field | self._properties())

    def _properties(self) -> dict[str, Any]:
        if self._drawn.random() > 0.1:
            return {}
        return {
            self._drawn.choice(["z", "p", "java-class"]): self._drawn.choice(
                [1, "x", None, [1], {"b": 1, "a": 2.5}, 1e10]
            )
        }

    def _shuffled(self, schema: dict[str, Any]) -> dict[str, Any]:
        names = list(schema)
        if self._drawn.random() < 0.3:
            self._drawn.shuffle(names)
        return {name: schema[name] for name in names}


_NONE = object()


def _label(branch: Any) -> str:
    if isinstance(branch, dict):
        return str(branch.get("name", branch["type"]))
    return str(branch) if isinstance(branch, str) else "union"


def default_of(drawn: random.Random, type_: Any) -> Any:
    """Return a value that fits the type as it is written, _NONE where that is a name."""
    if isinstance(type_, list):
        return default_of(drawn, drawn.choice(type_)) if type_ else _NONE
    kind = type_["type"] if isinstance(type_, dict) else type_
    match kind:
        case "null":
            return None
        case "boolean":
            return drawn.random() < 0.5
        case "int" | "long":
            return drawn.choice([0, 1, -5, 2**31 - 1])
        case "float" | "double":
            return drawn.choice([0, 1.5, 0.1, 1e10, 1e-7, "NaN", "2.5", 100.0, 3, -0.0, 1e21, 123456789.0])
        case "string" | "bytes" | "fixed":
            return drawn.choice(["", "a", "ü\n"])
        case "array":
            return []
        case "map":
            return {}
        case "enum":
            return type_["symbols"][0]
    return _NONE


def make_text(drawn: random.Random) -> dict:
    schema = SchemaMaker(drawn, drawn.choice([0.0, 0.03, 0.15])).type()
    text = json.dumps(schema, ensure_ascii=drawn.random() < 0.5)
    if drawn.random() < 0.05:
        text = text.replace(",", drawn.choice([" /* c */,", ", // c\n", ",,"]), 1)
    return {"op": "avro-text", "text": text}


def make_pair(drawn: random.Random) -> dict:
    maker = SchemaMaker(drawn, 0.0)
    writer = maker.type() if drawn.random() < 0.2 else maker._named(0)
    reader = copy.deepcopy(writer)
    for _ in range(drawn.randrange(3)):
        reader = _changed(drawn, reader)
    pair = [reader, writer] if drawn.random() < 0.5 else [writer, reader]
    return {"op": "avro-resolution", "reader": json.dumps(pair[0]), "writer": json.dumps(pair[1])}


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in the schema and a key of it."""
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield node, key
            yield from _places(node[key])


def _changed(drawn: random.Random, schema: Any) -> Any:
    """The schema with one thing in it changed; what results may be no schema."""
    root = {"root": copy.deepcopy(schema)}
    holder, key = drawn.choice(list(_places(root)))
    match key:
        case "type" | "items" | "values" | "root":
            holder[key] = drawn.choice([*_PRIMITIVES, [holder[key], "null"], ["null", "string"], [holder[key]]])
        case "fields":
            holder[key] = [*holder[key][1:], {"name": "n", "type": "int"} | drawn.choice([{}, {"default": 1}])]
        case "name" | "namespace":
            holder[key] = drawn.choice([*_NAMES, f"{holder[key]}x"])
        case "symbols":
            holder[key] = drawn.choice([holder[key][1:] or ["Q"], [*holder[key], "Q"]])
        case "size":
            holder[key] = 3
        case _ if isinstance(holder, list):
            del holder[key]
        case _:
            holder.pop(key, None)
    return root["root"]


AVRO = (
    Subject("avro_texts", make_text, ours, 4_000),
    Subject("avro_resolution", make_pair, ours, 4_000),
)
