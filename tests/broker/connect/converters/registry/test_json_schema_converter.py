"""Connect's schemas and values in JSON Schema, and back."""

import json
from decimal import Decimal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.registry.json_schema.converter import JsonSchemaConverter
from broker.registry.schema import Content, SchemaReference
from tests.broker.connect.converters.fake_registry import FakeRegistry, converter_of
from tests.broker.connect.converters.typed_values import typed
from tests.examples import examples


def converter(registry=None, **props):
    return converter_of(JsonSchemaConverter, registry or FakeRegistry(), **props)


def read(schema, value, *referred, **props):
    """What the converter makes of a value under a schema of somebody else's."""
    registry = FakeRegistry()
    for subject, schema_text in referred:
        registry.register(subject, Content("JSON", json.dumps(schema_text)))
    references = tuple(SchemaReference(subject, subject, 1) for subject, _ in referred)
    schema_id = registry.register("s", Content("JSON", json.dumps(schema), references))
    return converter(registry, **props).to_connect("t", (), b"\0" + schema_id.to_bytes(4) + json.dumps(value).encode())


@given(st.data(), st.sampled_from(["BASE64", "NUMERIC"]), st.sampled_from(["true", "false"]))
@settings(max_examples=examples(400))
def test_every_value_comes_back_with_its_schema(data, decimals, required):
    schema, values = data.draw(typed())
    value = data.draw(values)
    registry = FakeRegistry()
    props = {"decimal_format": decimals, "use_optional_for_nonrequired": required}
    written = converter(registry, **props).from_connect("t", (), schema, value)
    expected = (None, None) if value is None else (schema, value)
    assert converter(registry, **props).to_connect("t", (), written) == expected


def test_a_null_within_an_optional_struct_within_a_null_comes_back():
    inner = Schema(Type.STRUCT, True, fields=(Field("note", types.OPTIONAL_STRING),))
    middle = Schema(Type.STRUCT, True, fields=(Field("in", inner),))
    schema = Schema(Type.STRUCT, fields=(Field("a", middle), Field("b", middle), Field("c", middle)))
    value = Struct(
        schema,
        {"a": None, "b": Struct(middle, {"in": None}), "c": Struct(middle, {"in": Struct(inner, {"note": None})})},
    )
    registry = FakeRegistry()
    written = converter(registry).from_connect("t", (), schema, value)
    first, back = converter(registry).to_connect("t", (), written)
    assert (first, back) == (schema, value)
    assert back["a"] is None
    assert back["b"]["in"] is None
    assert back["c"]["in"]["note"] is None
    assert json.loads(written[5:]) == {"a": None, "b": {"in": None}, "c": {"in": {"note": None}}}


def test_a_struct_is_an_object_as_others_write_it_and_its_values_are_valid():
    fields = (Field("id", Schema(Type.INT32)), Field("note", types.OPTIONAL_STRING))
    schema = Schema(Type.STRUCT, name="shop.Order", fields=fields)
    registry = FakeRegistry()
    written = converter(registry).from_connect("t", (), schema, Struct(schema, {"id": 1}))
    registered_schema = json.loads(registry.contents[0].text)
    assert registered_schema == {
        "type": "object", "title": "shop.Order",
        "properties": {
            "id": {"type": "integer", "connect.type": "int32", "connect.index": 0},
            "note": {"oneOf": [{"type": "null"}, {"type": "string"}], "connect.index": 1},
        },
    }  # fmt: skip
    jsonschema.validate(json.loads(written[5:]), registered_schema)


def test_what_others_wrote_is_read():
    written_schema = {
        "title": "R", "type": "object", "required": ["id"],
        "definitions": {"in": {"type": "object", "properties": {"x": {"type": "number"}}}},
        "properties": {
            "id": {"type": "integer"}, "in": {"$ref": "#/definitions/in"}, "far": {"$ref": "far.json"},
            "any": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
            "maybe": {"type": ["string", "null"]}, "kind": {"enum": ["a", "b"]},
            "more": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "both": {"allOf": [{"$ref": "#/definitions/in"}, {"properties": {"y": {"type": "string"}}}]},
        },
    }  # fmt: skip
    value = {
        "id": 2**60, "in": {"x": 1}, "far": "there", "any": ["z"], "kind": "b", "more": {"k": True},
        "both": {"x": 2.5, "y": "w"}, "unknown": 1,
    }  # fmt: skip
    far = ("far.json", {"type": "string"})
    schema, back = read(written_schema, value, far, use_optional_for_nonrequired="true")
    assert (schema.name, back["id"], back["in"]["x"], back["far"], back["maybe"]) == ("R", 2**60, 1.0, "there", None)
    assert (back["any"]["io.confluent.connect.json.OneOf.field.1"], back["kind"]) == (["z"], "b")
    assert (back["more"], dict(back["both"])) == ({"k": True}, {"x": 2.5, "y": "w"})
    registry = FakeRegistry()
    written = converter(registry).from_connect("t", (), schema, back)
    assert converter(registry).to_connect("t", (), written)[1] == back


def test_decimals_are_numbers_with_all_their_digits_if_so_wanted():
    registry = FakeRegistry()
    made = converter(registry, decimal_format="NUMERIC")
    value = Decimal("12345678901234567890.12345678901234567890")
    written = made.from_connect("t", (), types.decimal_schema(20), value)
    assert written[5:] == b"12345678901234567890.12345678901234567890"
    assert json.loads(registry.contents[0].text)["type"] == "number"
    assert made.to_connect("t", (), written) == (types.decimal_schema(20), value)
    with_default = Schema(**{**types.decimal_schema(1).__dict__, "default": Decimal("0.5")})
    schema = Schema(Type.STRUCT, fields=(Field("d", with_default),))
    assert made.to_connect("t", (), made.from_connect("t", (), schema, Struct(schema)))[0] == schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "null"},
        {"type": "array"},
        {"properties": {"next": {"$ref": "#"}}},
        {"allOf": [{"oneOf": [{"type": "string"}]}]},
    ],
)
def test_what_connect_has_no_schema_for_is_a_data_error(schema):
    with pytest.raises(DataError):
        read(schema, {})


def test_a_schema_that_says_itself_a_million_times_is_refused():
    schema = {"definitions": {"d0": {"type": "string"}}, "$ref": "#/definitions/d20"}
    for level in range(1, 21):
        inner = {"$ref": f"#/definitions/d{level - 1}"}
        schema["definitions"][f"d{level}"] = {"type": "object", "properties": {"a": inner, "b": inner}}
    with pytest.raises(DataError, match="parts"):
        read(schema, {})


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0\1", b"\0\0\0\0\1{", b"\0\0\0\0\1[]", b"\0\0\0\0\1" + b"[" * 100_000])
def test_bytes_that_nobody_wrote_are_a_data_error(data):
    registry = FakeRegistry()
    registry.register("s", Content("JSON", '{"type":"string"}'))
    with pytest.raises(DataError):
        converter(registry).to_connect("t", (), data)


def test_a_property_that_is_missing_though_it_may_be_is_told_of():
    with pytest.raises(DataError, match="null"):
        read({"type": "object", "properties": {"a": {"type": "string"}}}, {})


@pytest.mark.parametrize(("props", "note"), [({}, "none"), ({"ignore_default_for_nullables": "true"}, None)])
def test_a_null_may_stay_one_beside_its_default(props, note):
    optional = Schema(Type.STRING, optional=True, default="none")
    schema = Schema(Type.STRUCT, fields=(Field("note", optional), Field("n", Schema(Type.INT32, default=7))))
    written = converter(**props).from_connect("t", (), schema, Struct(schema, {}))
    assert json.loads(written[5:]) == {"note": note, "n": 7}
