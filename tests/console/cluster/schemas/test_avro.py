"""Avro there and back against fastavro, and whatever bytes there may be within bounds."""

import io
import json
import random

import fastavro
import pytest

from broker.common.limits import REGISTRY_SCHEMA_DEPTH_MAX
from console.cluster.schemas.avro_decoding import VALUES_MAX, decode
from console.cluster.schemas.avro_encoding import encode
from console.cluster.schemas.avro_schema import TYPES_MAX, read_schema
from console.cluster.schemas.codec import Usable, encoded
from console.cluster.schemas.errors import NotDecodedError, NotEncodedError, UnusableSchemaError
from console.cluster.schemas.registry import RegisteredText

EVERYTHING = {
    "type": "record", "name": "All", "namespace": "a.b",
    "fields": [
        {"name": "flag", "type": "boolean"},
        {"name": "long", "type": "long"},
        {"name": "double", "type": "double"},
        {"name": "float", "type": "float"},
        {"name": "text", "type": ["null", "string"], "default": None},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "same", "type": "Kind"},
        {"name": "fixed", "type": {"type": "fixed", "name": "F", "size": 3}},
        {"name": "raw", "type": "bytes"},
        {"name": "list", "type": {"type": "array", "items": "int"}},
        {"name": "map", "type": {"type": "map", "values": "a.b.Kind"}},
        {"name": "next", "type": ["null", "All"], "default": None},
    ],
}  # fmt: skip
VALUE = {
    "flag": True, "long": -(2**40), "double": 0.1, "float": 0.5, "text": "ä", "kind": "B", "same": "A",
    "fixed": "\x00ab", "raw": "\xff", "list": [1, -2, 300], "map": {"x": "A"}, "next": None,
}  # fmt: skip


def test_it_is_read_and_written_as_fastavro_does():
    node = read_schema(json.dumps(EVERYTHING))
    deep = {**VALUE, "next": {**VALUE, "text": None, "list": [], "map": {}}}
    data = encode(node, deep)

    def as_bytes(value):
        raw = {"fixed": value["fixed"].encode("latin-1"), "raw": value["raw"].encode("latin-1")}
        return {**value, **raw, "next": value["next"] and as_bytes(value["next"])}

    theirs = fastavro.schemaless_reader(io.BytesIO(data), fastavro.parse_schema(EVERYTHING), None)
    assert theirs == as_bytes(deep)
    assert decode(node, data) == deep


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ({"type": "int", "logicalType": "date"}, "2026-11-23", "2026-11-23"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "2026-11-23T05:06:07Z", "2026-11-23T05:06:07Z"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "-12.3", "-12.30"),
        ("double", "nan", "NaN"),
        ("double", "NaN", "NaN"),
        ("float", "Infinity", "Infinity"),
        ("double", "-Infinity", "-Infinity"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}, "999.99", "999.99"),
        (
            {"type": "string", "logicalType": "uuid"},
            "123e4567-e89b-12d3-a456-426614174000",
            "123e4567-e89b-12d3-a456-426614174000",
        ),
        ({"type": "int", "logicalType": "time-millis"}, 86_399_999, 86_399_999),
        ({"type": "int", "logicalType": "date"}, 2**31 - 1, 2**31 - 1),
    ],
)
def test_what_has_a_meaning_is_told_as_a_person_writes_it(type_, value, expected):
    node = read_schema(json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": type_}]}))
    assert decode(node, encode(node, {"x": value})) == {"x": expected}


@pytest.mark.parametrize(
    ("type_", "value", "reason"),
    [
        ({"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}, "1000.00", "6 digits, and at most 5"),
        ({"type": "fixed", "name": "D", "size": 8, "logicalType": "decimal", "precision": 3}, 1000, "at most 3"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}, "1.234", "is no bytes"),
        ({"type": "string", "logicalType": "uuid"}, "", "“” is no string \\(uuid\\)"),
        ({"type": "string", "logicalType": "uuid"}, "123e4567e89b12d3a456426614174000", "is no string"),
        ({"type": "int", "logicalType": "time-millis"}, 86_400_000, "86400000 is no int \\(time-millis\\)"),
        ({"type": "int", "logicalType": "time-millis"}, -1, "is no int"),
        ({"type": "long", "logicalType": "time-micros"}, 86_400_000_000, "is no long"),
        ("double", "Nan", "is no double"),
    ],
)
def test_a_value_that_its_logical_type_has_not_is_refused(type_, value, reason):
    node = read_schema(json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": type_}]}))
    with pytest.raises(NotEncodedError, match=f"^x: .*{reason}"):
        encode(node, {"x": value})


@pytest.mark.parametrize("typed", ["NaN", '{"x": NaN}', "[Infinity]", "-Infinity"])
def test_a_bare_nan_is_no_json(typed):
    schema = RegisteredText('{"type": "record", "name": "R", "fields": [{"name": "x", "type": "double"}]}', id=1)
    with pytest.raises(NotEncodedError, match=r"this is no JSON: .* written as a text"):
        encoded(Usable(schema, read_schema(schema.text)), typed)


def test_bytes_that_are_all_of_a_record_stand_as_they_are():
    node = read_schema('"bytes"')
    assert (decode(node, b"ab"), encode(node, "ab")) == ("ab", b"ab")


def test_a_few_bytes_do_not_become_billions_of_nulls():
    node = read_schema('{"type": "array", "items": "null"}')
    with pytest.raises(NotDecodedError, match=f"more than {VALUES_MAX} values"):
        decode(node, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f")


def test_a_list_as_deep_as_its_bytes_ends():
    node = read_schema(json.dumps({"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}))
    with pytest.raises(NotDecodedError, match="deeper than"):
        decode(node, b"\2" * 100_000)


def _nested(depth):
    return '{"type":' * depth + '"int"' + "}" * depth


@pytest.mark.parametrize(
    "schema",
    ["{", "[" * 10_000, "7", '"unknown"', _nested(REGISTRY_SCHEMA_DEPTH_MAX + 2), json.dumps(["int"] * 30_000)],
)
def test_a_schema_that_is_none_or_too_deep_is_refused(schema):
    with pytest.raises(UnusableSchemaError):
        read_schema(schema)


def test_a_schema_as_deep_as_the_registry_allows_is_read():
    assert read_schema(_nested(REGISTRY_SCHEMA_DEPTH_MAX)).kind == "int"


def _record_of(name, count):
    return json.dumps(
        {"type": "record", "name": name, "fields": [{"name": f"f{at}", "type": "int"} for at in range(count)]}
    )


def test_types_are_counted_over_a_schema_and_what_it_refers_to():
    half = TYPES_MAX // 2
    assert len(read_schema(_record_of("A", half)).fields) == half
    with pytest.raises(UnusableSchemaError, match=f"more than {TYPES_MAX} types"):
        read_schema(_record_of("A", half), (_record_of("B", half),))


def test_a_name_that_no_schema_defines_is_in_the_refusal():
    with pytest.raises(UnusableSchemaError, match=r'no Avro schema: "a\.Missing" is not a defined name'):
        read_schema('{"type": "array", "items": "a.Missing"}')


def test_a_schema_may_define_again_what_it_refers_to():
    again = {"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]}
    assert decode(read_schema(json.dumps(again), (_record_of("R", 0),)), b"\2") == {"x": 1}


def test_an_error_is_written_as_a_record_is():
    node = read_schema(json.dumps({"type": "error", "name": "E", "fields": [{"name": "x", "type": "int"}]}))
    assert decode(node, encode(node, {"x": 3})) == {"x": 3}


def test_whatever_bytes_come_are_decoded_or_refused():
    node, source = read_schema(json.dumps(EVERYTHING)), random.Random(7)
    refused = 0
    data = encode(node, VALUE)
    for _ in range(2_000):
        broken = bytearray(data)
        broken[source.randrange(len(broken))] = source.randrange(256)
        try:
            json.dumps(decode(node, bytes(broken[: source.randrange(len(broken)) + 1])))
        except NotDecodedError:
            refused += 1
    assert refused > 100


def test_a_union_takes_the_branch_that_is_named():
    node = read_schema('["null", "string", "long"]')
    assert encode(node, {"long": 3}) == b"\x04\x06"
    with pytest.raises(NotEncodedError, match="fits none of null, string, long"):
        encode(node, [])


def test_unions_in_unions_are_tried_within_bounds():
    schema: object = "int"
    for _ in range(30):
        schema = [{"type": "array", "items": schema}, {"type": "map", "values": "int"}]
    value: object = "x"
    for _ in range(30):
        value = [value, value]  # shared: 2**30 places
    with pytest.raises(NotEncodedError):
        encode(read_schema(json.dumps(schema)), value)
