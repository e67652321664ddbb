"""Avro's rules, a row each: what the writer's schema is, what the reader's, and what is in the way."""

import json

import pytest

from broker.registry.avro.compatibility import incompatibilities
from broker.registry.avro.parsing import parse


def record(*fields, name="Order", **more):
    return {"type": "record", "name": name, "fields": list(fields), **more}


def enum(*symbols, name="Colour", **more):
    return {"type": "enum", "name": name, "symbols": list(symbols), **more}


def fixed(size, name="Hash", **more):
    return {"type": "fixed", "name": name, "size": size, **more}


ID = {"name": "id", "type": "int"}
NOTE = {"name": "note", "type": "string"}
NOTE_OR_EMPTY = NOTE | {"default": ""}
LINKED = {"name": "next", "type": ["null", "Order"], "default": None}

ROWS = [
    # primitives: what is wider reads what is narrower
    *((narrow, wide, None) for narrow, wides in {
        "int": ("int", "long", "float", "double"),
        "long": ("long", "float", "double"),
        "float": ("float", "double"),
        "string": ("string", "bytes"),
        "bytes": ("bytes", "string"),
        "null": ("null",),
        "boolean": ("boolean",),
    }.items() for wide in wides),
    *((wide, narrow, "TYPE_MISMATCH") for wide, narrow in (
        ("long", "int"), ("double", "float"), ("float", "long"), ("int", "string"), ("string", "int"),
        ("int", "boolean"),
        ("boolean", "null"), ("bytes", "int"),
    )),
    # logical types do not count
    ({"type": "bytes", "logicalType": "decimal", "precision": 4}, {"type": "bytes"}, None),
    # records
    (record(ID), record(ID, NOTE_OR_EMPTY), None),
    (record(ID), record(ID, NOTE), "READER_FIELD_MISSING_DEFAULT_VALUE"),
    (record(ID, NOTE), record(ID), None),
    (record(ID, NOTE), record(NOTE, ID), None),
    (record(NOTE), record({"name": "text", "type": "string", "aliases": ["note"]}), None),
    (record(NOTE), record({"name": "text", "type": "string"}), "READER_FIELD_MISSING_DEFAULT_VALUE"),
    (record(NOTE, {"name": "text", "type": "string"}),
     record({"name": "text", "type": "string", "aliases": ["note"]}), "NAME_MISMATCH"),
    (record(ID), record({"name": "id", "type": "string"}), "TYPE_MISMATCH"),
    (record(ID), record(ID, name="Other"), "NAME_MISMATCH"),
    (record(ID), record(ID, namespace="a.b"), None),
    (record(ID, namespace="a"), record(ID, name="Other", aliases=["a.Order"]), None),
    (record(ID), record(ID, {"name": "c", "type": enum("RED", default="RED")}), "TYPE_MISMATCH"),
    (record(ID, LINKED), record(ID, LINKED), None),
    (record(ID, LINKED), record({"name": "id", "type": "string"}, LINKED), "TYPE_MISMATCH"),
    # enums, fixed
    (enum("RED"), enum("RED", "BLUE"), None),
    (enum("RED", "BLUE"), enum("RED"), "MISSING_ENUM_SYMBOLS"),
    (enum("RED", "BLUE"), enum("RED", default="RED"), None),
    (enum("RED"), enum("RED", name="Other"), "NAME_MISMATCH"),
    (fixed(4), fixed(4), None),
    (fixed(4), fixed(8), "FIXED_SIZE_MISMATCH"),
    (fixed(4), fixed(4, name="Other"), "NAME_MISMATCH"),
    # arrays, maps
    ({"type": "array", "items": "int"}, {"type": "array", "items": "long"}, None),
    ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}, "TYPE_MISMATCH"),
    ({"type": "map", "values": "int"}, {"type": "map", "values": "double"}, None),
    ({"type": "map", "values": "int"}, {"type": "array", "items": "int"}, "TYPE_MISMATCH"),
    # unions
    ("string", ["null", "string"], None),
    (["null", "string"], "string", "TYPE_MISMATCH"),
    (["null", "string"], ["null", "string", "int"], None),
    (["null", "string", "int"], ["null", "string"], "MISSING_UNION_BRANCH"),
    (["int", "string"], ["long", "string"], None),
    (["int"], "long", None),
    ("int", ["null", "string"], "MISSING_UNION_BRANCH"),
    # a record within a union is looked into (Karapace #97)
    (["null", record(ID)], ["null", record(ID, NOTE)], "MISSING_UNION_BRANCH"),
    (["null", record(ID)], ["null", record(ID, NOTE_OR_EMPTY)], None),
]  # fmt: skip


@pytest.mark.parametrize(("writer", "reader", "in_the_way"), ROWS)
def test_what_the_reader_makes_of_what_was_written(writer, reader, in_the_way):
    messages = incompatibilities(parse(json.dumps(reader))[0], parse(json.dumps(writer))[0])
    if in_the_way is None:
        assert messages == []
    else:
        assert messages, "nothing is in the way"
        assert any(f"errorType:'{in_the_way}'" in item for item in messages), messages


def test_a_message_names_the_place():
    writer, reader = record(ID), record({"name": "id", "type": {"type": "array", "items": "int"}})
    [message] = incompatibilities(parse(json.dumps(reader))[0], parse(json.dumps(writer))[0])
    assert "/fields/0/type" in message
