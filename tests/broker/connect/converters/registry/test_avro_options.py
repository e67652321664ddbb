"""Settings of Confluent's AvroConverter that change what is written, and properties that others wrote."""

import json

import pytest

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.registry.avro.encoder import avro_of
from broker.connect.converters.registry.scrubbing import scrubbed_name
from broker.registry.avro.parsing import parse_with_complaint
from tests.broker.connect.converters.fake_registry import FakeRegistry
from tests.broker.connect.converters.registry.test_avro_converter import avro, read

NOTE = Schema(Type.STRING, optional=True, default="none")
ROW = Schema(Type.STRUCT, fields=(Field("id", types.INT64), Field("note", NOTE)))


def struct(*fields, name=None, **more):
    return Schema(Type.STRUCT, name=name, fields=tuple(Field(*field) for field in fields), **more)


@pytest.mark.parametrize(("props", "branch"), [({}, b"\0\x08none"), ({"ignore.default.for.nullables": "true"}, b"\2")])
def test_a_null_may_stay_one_beside_its_default(props, branch):
    """schema-registry 2314: a null of a column with a default was written as the default."""
    written = avro(**props).from_connect("t", (), ROW, Struct(ROW, {"id": 1, "note": None}))
    assert written[5:] == b"\2" + branch


def test_a_required_field_has_its_default_whatever_is_said_of_nullable_ones():
    schema = struct(("n", Schema(Type.INT32, default=7)))
    made = avro(**{"ignore.default.for.nullables": "true"})
    assert made.from_connect("t", (), schema, Struct(schema, {}))[5:] == b"\x0e"


@pytest.mark.parametrize(
    ("name", "scrubbed"),
    [
        ("abc-def", "abc_def"), ("abc+def", "abc_2Bdef"), ("abc  def", "abc__def"), ("abc.def", "abc_def"),
        ("0abc.def", "x0abc_def"), ("_abc", "_abc"), ("abc", "abc"), ("ä", "_C3_A4"), ("", ""),
    ],
)  # fmt: skip
def test_a_name_is_scrubbed_as_confluents_converters_do(name, scrubbed):
    """schema-registry 1873 and 2933."""
    assert scrubbed_name(name) == scrubbed


def test_names_that_avro_has_no_words_for_are_scrubbed_where_that_is_wanted():
    inner = struct(("zip-code", types.STRING), name="shop.post-address")
    schema = struct(
        ("first name", types.STRING),
        ("to", Schema(**{**inner.__dict__, "default": Struct(inner, {"zip-code": "1"})})),
        name="my-shop.order",
    )
    value = Struct(schema, {"first name": "x", "to": Struct(inner, {"zip-code": "2"})})
    assert parse_with_complaint(avro_of(schema), {})[1].startswith("Illegal character in: ")
    assert not parse_with_complaint(avro_of(schema, scrubs=True), {})[1]
    registry = FakeRegistry()
    made = avro(registry, **{"scrub.invalid.names": "true"})
    read_schema, back = made.to_connect("t", (), made.from_connect("t", (), schema, value))
    document = json.loads(registry.contents[0].text)
    assert (document["namespace"], document["name"]) == ("my_shop", "order")
    assert document["fields"][1]["default"] == {"zip_code": "1"}
    assert (read_schema.name, dict(back), dict(back["to"])) == (
        "my-shop.order", {"first_name": "x", "to": back["to"]}, {"zip_code": "2"},
    )  # fmt: skip


def record_with(parameters):
    field = {"name": "e", "type": {"type": "string", "connect.parameters": parameters}}
    return json.dumps({"type": "record", "name": "R", "fields": [field]})


def test_a_parameter_that_is_null_is_none():
    """schema-registry 541: converters of before 5.0 wrote `connect.enum.doc` of an enum without a doc as null."""
    schema, _ = read(record_with({"connect.enum.doc": None, "a": "b"}), b"\2A")
    assert schema.fields[0].schema.parameters == {"a": "b"}


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"a": True}, "Expected schema parameter values to be strings but found: true"),
        ({"a": {"b": 1}}, 'Expected schema parameter values to be strings but found: {"b": 1}'),
        ("text", 'Expected JSON object for schema parameters but found: "text"'),
        ([1], r"Expected JSON object for schema parameters but found: \[1\]"),
    ],
)
def test_parameters_that_are_no_texts_are_refused_with_connects_words(parameters, sentence):
    with pytest.raises(DataError, match=sentence):
        read(record_with(parameters), b"\2A")
