"""Protobuf: what the registry takes, through protoc, beside Wire, by which Confluent's registry reads."""

import random

from broker.registry.errors import InvalidSchema
from broker.registry.protobuf.schema import parse
from tests.reference.comparison import Subject

_SCALARS = ["int32", "int64", "uint32", "sint32", "fixed64", "bool", "string", "bytes", "double", "float"]
_NAMES = ["A", "B", "Order", "order_line", "f1", "x"]
_ODD_NAMES = ["1a", "a-b", "", "ä", "message", "int32", "option", "_a"]
_NUMBERS = [1, 2, 3, 15, 16, 536870911]
_ODD_NUMBERS = [0, -1, 19000, 536870912]


class ProtoMaker:
    """Draws files; `oddity` is the chance that something in one is not as it should be."""

    def __init__(self, drawn: random.Random, oddity: float):
        self._drawn, self._oddity = drawn, oddity
        self._syntax = drawn.choice(["proto3", "proto3", "proto2"])
        self._types: list[str] = []

    def file(self) -> str:
        drawn = self._drawn
        parts = [] if self._syntax == "proto2" and drawn.random() < 0.3 else [f'syntax = "{self._syntax}";']
        if drawn.random() < 0.6:
            parts.append(f"package {drawn.choice(['p', 'a.b', 'com.x.y'])};")
        if drawn.random() < 0.2:
            parts.append('import "google/protobuf/timestamp.proto";')
            self._types.append("google.protobuf.Timestamp")
        if drawn.random() < 0.2:
            parts.append('option java_package = "x.y";')
        names = drawn.sample(_NAMES[:4], drawn.randrange(1, 4))
        parts += [self._enum(name) if drawn.random() < 0.25 else self._message(name) for name in names]
        if drawn.random() < 0.1:
            parts.append(drawn.choice(["// end", "/* end */", ";"]))
        return "\n".join(parts) + "\n"

    def _is_odd(self) -> bool:
        return self._drawn.random() < self._oddity

    def _name(self, name: str) -> str:
        return self._drawn.choice(_ODD_NAMES) if self._is_odd() else name

    def _enum(self, name: str, prefix: str = "") -> str:
        drawn = self._drawn
        values = [f"{name.upper()}_{prefix}{letter}" for letter in "XYZ"[: drawn.randrange(1, 4)]]
        first = 1 if self._is_odd() else 0
        body = "".join(f"  {text} = {number + first};\n" for number, text in enumerate(values))
        if self._is_odd():
            body += f"  {name.upper()}_{prefix}W = {first};\n"
        if drawn.random() < 0.1:
            body += f"  reserved {drawn.choice(['9', '9 to 12', '20 to max'])};\n"
        self._types.append(name)
        return f"enum {self._name(name)} {{\n{body}}}"

    def _message(self, name: str, depth: int = 0) -> str:
        drawn = self._drawn
        known = len(self._types)
        parts = []
        if depth < 2 and drawn.random() < 0.25:
            parts.append(self._message(f"In{name}", depth + 1))
        if drawn.random() < 0.15:
            parts.append(self._enum(f"E{name}", "E"))
        numbers = drawn.sample(range(1, 18), 6)
        for at in range(drawn.randrange(5)):
            number = drawn.choice(_ODD_NUMBERS) if self._is_odd() else numbers[at]
            parts.append(self._field(self._name(f"{drawn.choice(_NAMES[3:])}{at}"), number))
        if drawn.random() < 0.2:
            parts.append(f"oneof choice {{\n string o1 = 100;\n {drawn.choice(_SCALARS)} o2 = 101;\n}}")
        if drawn.random() < 0.15:
            parts.append(drawn.choice(["reserved 200 to 210;", 'reserved "gone";', "reserved 300, 302 to 304;"]))
        if self._syntax == "proto2" and drawn.random() < 0.15:
            parts.append("extensions 1000 to 1999;")
        del self._types[known:]
        self._types.append(name)
        return f"message {self._name(name)} {{\n" + "\n".join(parts) + "\n}"

    def _field(self, name: str, number: int) -> str:
        drawn = self._drawn
        if drawn.random() < 0.1:
            key = drawn.choice(["double", "Missing"] if self._is_odd() else ["string", "int32"])
            return f"  map<{key}, {self._type()}> {name} = {number};"
        labels = (
            ["optional ", "repeated ", "required "] if self._syntax == "proto2" else ["", "", "optional ", "repeated "]
        )
        label = drawn.choice(["required ", ""]) if self._is_odd() else drawn.choice(labels)
        type_ = self._type()
        options = ""
        if self._is_odd():
            options = drawn.choice([' [json_name = "j"]', " [packed = true]", ' [default = "d"]', " [deprecated = 1]"])
        elif drawn.random() < 0.15:
            options = drawn.choice([f' [json_name = "j{name}"]', " [deprecated = true]"])
        return f"  {label}{type_} {name} = {number}{options};"

    def _type(self) -> str:
        if self._is_odd():
            return self._drawn.choice(["Missing", "int", ".A", "p.A"])
        return self._drawn.choice([*_SCALARS, *self._types, *self._types])


def _case(drawn: random.Random) -> dict:
    return {"op": "proto", "text": ProtoMaker(drawn, drawn.choice([0.0, 0.02, 0.08])).file()}


def _taken(case: dict) -> dict:
    try:
        parse(case["text"], (), is_new=True)
    except InvalidSchema:
        return {"refused": "value"}
    return {"accepted": True}


PROTOBUF = (Subject("protobuf_texts", _case, _taken, 3_000),)
