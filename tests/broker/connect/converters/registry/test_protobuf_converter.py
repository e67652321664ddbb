"""Connect's schemas and values in Protobuf, and back."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.registry.framing import index_bytes, split_indexes
from broker.connect.converters.registry.protobuf import connect_names
from broker.connect.converters.registry.protobuf.converter import ProtobufConverter
from broker.registry.schema import Content
from tests.broker.connect.converters.fake_registry import FakeRegistry, converter_of
from tests.broker.connect.converters.typed_values import leaves
from tests.examples import examples

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
INT = Schema(Type.INT32)


def converter(registry=None, **props):
    return converter_of(ProtobufConverter, registry or FakeRegistry(), **props)


def untagged(schema):
    """Without the numbers of fields, which a schema has only after it was read."""
    if schema is None:
        return None
    return replace(
        schema,
        parameters={key: value for key, value in schema.parameters.items() if key != connect_names.TAG},
        fields=tuple(Field(field.name, untagged(field.schema)) for field in schema.fields),
        key_schema=untagged(schema.key_schema),
        value_schema=untagged(schema.value_schema),
    )


def plain(value):
    if isinstance(value, Struct):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


@st.composite
def structs(draw, depth=2):
    """What Protobuf has words for: neither array nor map is null, and an array has neither of them in it."""
    parts = {name: draw(members(depth - 1)) for name in draw(st.lists(NAMES, unique=True, max_size=3))}
    fields = tuple(Field(name, schema) for name, (schema, _) in parts.items())
    name = draw(st.sampled_from([None, "a.b.Name", "Other"]))
    schema = Schema(Type.STRUCT, name=name, version=draw(st.none() | st.just(3)), doc='"of\\n ä test', fields=fields)
    values = st.fixed_dictionaries({name: item for name, (_, item) in parts.items()})
    return schema, values.map(lambda item: Struct(schema, item))


@st.composite
def members(draw, depth):
    shape = draw(st.sampled_from(["leaf", "array", "map", "struct"])) if depth else "leaf"
    if shape == "struct":
        schema, values = draw(structs(depth))
        if draw(st.booleans()):
            return schema, values
        schema = replace(schema, optional=True)
        return schema, st.none() | values.map(lambda item: Struct(schema, item.values_by_name))
    if shape == "map":
        keys, key_values = draw(leaves(optional=False))
        inner, values = draw(members(0))
        return Schema(Type.MAP, key_schema=keys, value_schema=inner), st.dictionaries(key_values, values, max_size=3)
    if shape == "array":
        kinds = [types.STRING, Schema(Type.INT64), types.date_schema()]
        inner = draw(st.sampled_from(kinds))
        values = {Type.STRING: st.text("ab"), Type.INT64: st.integers(-9, 9), Type.INT32: st.dates()}[inner.type]
        return Schema(Type.ARRAY, value_schema=inner), st.lists(values, max_size=3)
    schema, values = draw(leaves())
    return schema, (st.none() | values if schema.optional else values)


@given(st.data())
@settings(max_examples=examples(160))
def test_every_value_comes_back_with_its_schema(data):
    schema, values = data.draw(structs())
    value = data.draw(values)
    registry = FakeRegistry()
    props = {"optional_for_nullables": "true"}
    written = converter(registry, **props).from_connect("t", (), schema, value)
    first, back = converter(registry, **props).to_connect("t", (), written)
    assert untagged(first) == schema
    assert plain(back) == plain(value)


def test_a_struct_is_a_message_of_its_name():
    fields = (
        Field("id", Schema(Type.INT16)), Field("note", types.OPTIONAL_STRING), Field("at", types.timestamp_schema()),
    )  # fmt: skip
    schema = Schema(Type.STRUCT, name="shop.Order", fields=fields)
    registry = FakeRegistry()
    value = Struct(schema, {"id": 1, "at": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)})
    written = converter(registry).from_connect("t", (), schema, value)
    assert written == b"\0\0\0\0\1\0\x08\1\x1a\2\x08\1"
    text = registry.contents[0].text
    assert "package shop;" in text
    assert "message Order {" in text
    assert "string note = 2;" in text
    assert ".google.protobuf.Timestamp at = 3;" in text


@pytest.mark.parametrize("props", [{"optional_for_nullables": "true"}, {"wrapper_for_nullables": "true"}])
def test_a_null_is_no_zero_with_optional_or_with_wrappers(props):
    fields = (Field("a", types.OPTIONAL_STRING), Field("b", Schema(Type.INT64, optional=True)))
    schema = Schema(Type.STRUCT, fields=fields)
    made = converter(**props)
    for value in ({"a": None, "b": 0}, {"a": "", "b": None}):
        assert plain(made.to_connect("t", (), made.from_connect("t", (), schema, Struct(schema, value)))[1]) == value


OTHERS = """syntax = "proto3"; package n;
import "google/protobuf/wrappers.proto";
message First { int32 x = 1; }
message Second {
  message In { uint64 big = 1; }
  enum Kind { NONE = 0; SOME = 5; }
  oneof choice { string text = 1; In in = 2; }
  Kind kind = 3;
  repeated In many = 4;
  map<int32, In> by = 5;
  google.protobuf.StringValue wrapped = 6;
  fixed32 unsigned = 7;
}
"""


def test_what_others_wrote_is_read_by_the_message_its_indexes_name():
    registry = FakeRegistry()
    registry.register("s", Content("PROTOBUF", OTHERS))
    made = converter(registry)
    body = b"\x12\2\x08\7\x18\5\x22\2\x08\1\x2a\6\x08\2\x12\2\x08\3\x32\3\x0a\1w\x3d\xff\xff\xff\xff"
    schema, value = made.to_connect("t", (), b"\0\0\0\0\1\2\2" + body)
    assert schema.name == "n.Second"
    assert plain(value) == {
        "choice_0": {"text": None, "in": {"big": 7}}, "kind": "SOME", "many": [{"big": 1}], "by": {2: {"big": 3}},
        "wrapped": "w", "unsigned": 2**32 - 1,
    }  # fmt: skip
    assert plain(made.to_connect("t", (), b"\0\0\0\0\1\4\2\0\x08\5")[1]) == {"big": 5}
    latest = converter_of(ProtobufConverter, registry, auto_register_schemas="false", use_latest_version="true")
    registry.register("t-value", Content("PROTOBUF", OTHERS))
    written = latest.from_connect("t", (), schema, value)
    assert written[5:7] == b"\2\2"
    assert plain(latest.to_connect("t", (), written)[1]) == plain(value)
    own = made.from_connect("u", (), schema, value)
    assert plain(made.to_connect("u", (), own)[1]) == plain(value)


def test_logical_types_are_the_messages_everybody_knows():
    fields = (
        Field("sum", types.decimal_schema(2)), Field("day", types.date_schema()), Field("clock", types.time_schema()),
    )  # fmt: skip
    schema = Schema(Type.STRUCT, fields=fields)
    value = Struct(schema, {"sum": Decimal("-1.25"), "day": date(2020, 2, 3), "clock": time(4, 5, 6, 7000)})
    registry = FakeRegistry()
    made = converter(registry)
    assert plain(made.to_connect("t", (), made.from_connect("t", (), schema, value))[1]) == plain(value)
    for name in (".confluent.type.Decimal sum", ".google.type.Date day", ".google.type.TimeOfDay clock"):
        assert name in registry.contents[0].text


@pytest.mark.parametrize(
    "schema",
    [
        INT,
        Schema(Type.STRUCT, name="a-b"),
        Schema(Type.STRUCT, fields=(Field("x y", INT),)),
        Schema(Type.STRUCT, fields=(Field("x", Schema(Type.ARRAY, value_schema=types.OPTIONAL_STRING)),)),
    ],
)
def test_what_protobuf_has_no_word_for_is_a_data_error(schema):
    with pytest.raises(DataError):
        converter().from_connect("t", (), schema, 1 if schema is INT else Struct(schema, {}))


def test_a_message_that_contains_itself_is_refused():
    registry = FakeRegistry()
    registry.register("s", Content("PROTOBUF", 'syntax = "proto3"; message R { R next = 1; }'))
    with pytest.raises(DataError, match="itself"):
        converter(registry).to_connect("t", (), b"\0\0\0\0\1\0")


@pytest.mark.parametrize(
    "data", [b"", b"\2", b"\2\x10", b"\4\2\x10", b"\1", b"\xff" * 9, b"\0\x0a\x7f", b"\2\2\x18\x09"]
)
def test_bytes_that_nobody_wrote_are_a_data_error(data):
    registry = FakeRegistry()
    registry.register("s", Content("PROTOBUF", OTHERS))
    with pytest.raises(DataError):
        converter(registry).to_connect("t", (), b"\0\0\0\0\1" + data)


@given(st.lists(st.integers(0, 2**20), min_size=1, max_size=5), st.binary(max_size=3))
def test_message_indexes_come_back(path, rest):
    assert split_indexes(index_bytes(tuple(path)) + rest) == (tuple(path), rest)


def test_the_first_message_is_one_byte_and_others_are_zigzag():
    assert (index_bytes((0,)), index_bytes((1, 0))) == (b"\0", b"\4\2\0")
