"""Comparing Avro schemas says what a naive reading of the rules says, at a cost that grows as the schemas do."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.registry.avro.compatibility import incompatibilities
from broker.registry.avro.parsing import parse
from broker.registry.errors import InvalidSchema
from tests.broker.registry.avro.reference import Reference, full_name
from tests.examples import examples

PRIMITIVES = ("null", "int", "long", "float", "double", "string", "bytes", "boolean")
NAMES = ("A", "B", "C")
SPACES = ("x", "y", "z")


class Maker:
    """One schema out of a stream of choices: small names that come again, types that contain themselves."""

    def __init__(self, draw: Any):
        self.draw = draw
        self.defined: list[str] = []

    def pick(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def schema(self, depth: int) -> Any:
        what = self.pick("primitive", "primitive", "record", "enum", "fixed", "array", "map", "union", "known")
        if what == "known" and self.defined:
            return self.pick(*self.defined)
        if what == "union" and depth:
            return self.union(depth)
        if what in ("array", "map") and depth:
            return {"type": what, ("items" if what == "array" else "values"): self.schema(depth - 1)}
        if what in ("record", "enum", "fixed") and depth:
            return self.named(what, depth)
        return self.pick(*PRIMITIVES)

    def union(self, depth: int) -> Any:
        branches: dict[str, Any] = {}
        for _ in range(self.pick(1, 2, 3, 4)):
            before, branch = list(self.defined), self.schema(depth - 1)
            if not isinstance(branch, list):
                called = (
                    branch if isinstance(branch, str) else full_name(branch) if "name" in branch else branch["type"]
                )
                if called not in branches:
                    branches[called] = branch
                    continue
            self.defined = before  # it is left out, and what it defines
        return list(branches.values()) or ["null"]

    def named(self, what: str, depth: int) -> Any:
        schema: dict[str, Any] = {"type": what, "name": self.pick(*NAMES), "namespace": self.pick(*SPACES)}
        if full_name(schema) in self.defined:
            return full_name(schema)
        self.defined.append(full_name(schema))
        if self.pick(False, False, True):
            schema["aliases"] = [self.pick("x.A", "y.B", "x.C")]
        if what == "fixed":
            return schema | {"size": self.pick(1, 2)}
        if what == "enum":
            symbols = sorted(self.draw(st.sets(st.sampled_from("PQRS"), min_size=1)))
            return schema | {"symbols": symbols} | ({"default": symbols[0]} if self.pick(False, False, True) else {})
        fields = {}
        for name in sorted(self.draw(st.sets(st.sampled_from("abcd"), max_size=3))):
            fields[name] = {"name": name, "type": self.schema(depth - 1)}
            if self.pick(False, True):
                fields[name]["default"] = None
            if self.pick(False, False, True):
                fields[name]["aliases"] = [self.pick(*"abcd")]
        return schema | {"fields": list(fields.values())}


@st.composite
def schemas(draw: Any) -> Any:
    return Maker(draw).schema(4)


def parsed(schema: Any) -> Any:
    return parse(json.dumps(schema), checks_defaults=False)[0]


def places(messages: list[str]) -> set[tuple[str, str]]:
    return {
        (kind, re.search(r"path '([^']*)'", text)[1])
        for text in messages
        for kind in [re.match(r"\{errorType:'(\w+)'", text)[1]]
    }


@settings(max_examples=examples(400))
@given(schemas(), schemas())
def test_what_is_in_the_way_is_what_a_naive_reading_of_the_rules_finds(reader, writer):
    expected = Reference(reader, writer).reads(reader, writer, "/")
    assert places(incompatibilities(parsed(reader), parsed(writer))) == expected


def record(number: int, *fields: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": f"R{number}", "fields": list(fields), **more}


def field(name: str, type_: Any = "int") -> dict[str, Any]:
    return {"name": name, "type": type_}


def enum(prefix: str, count: int) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": [f"{prefix}{index}" for index in range(count)]}


def test_a_union_of_thousands_of_records_reads_itself():
    union = parsed([record(index, field("a")) for index in range(4_000)])
    assert incompatibilities(union, parsed([record(index, field("a")) for index in range(4_000)])) == []


def test_each_of_thousands_of_branches_that_are_missing_is_told():
    reader = parsed([record(index, field("a")) for index in range(4_000)])
    writer = parsed([record(index + 2_000, field("a")) for index in range(4_000)])
    assert len(incompatibilities(reader, writer)) == 2_000


def test_thousands_of_renamed_fields_and_symbols_are_told():
    reader = parsed(record(0, *(field(f"a{index}") for index in range(14_000))))
    writer = parsed(record(0, *(field(f"b{index}") for index in range(14_000))))
    assert len(incompatibilities(reader, writer)) == 14_000
    assert len(incompatibilities(parsed(enum("a", 60_000)), parsed(enum("b", 60_000)))) == 1
    assert incompatibilities(parsed(enum("a", 60_000)), parsed(enum("a", 60_000))) == []


def nested(level: int, levels: int, leaf: str) -> Any:
    """Each level contains the next one twice."""
    if level == levels:
        return record(level, field("a", leaf))
    return record(level, field("a", nested(level + 1, levels, leaf)), field("b", f"R{level + 1}"))


TOO_LONG = {
    "each branch of one may be each of the other": (
        [record(0, field("a"), namespace=f"r{index}") for index in range(1_000)],
        [record(0, field("a", "string"), namespace=f"w{index}") for index in range(1_000)],
    ),
    "each branch of a union lacks each field": (
        record(0, *(field(f"a{index}") for index in range(2_000))),
        [record(index) for index in range(2_000)],
    ),
    "what differs is met twice on each of many levels": (nested(0, 40, "int"), nested(0, 40, "string")),
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_what_multiplies_is_refused(name):
    reader, writer = map(parsed, TOO_LONG[name])
    with pytest.raises(InvalidSchema, match="comparing it takes too long"):
        incompatibilities(reader, writer)
