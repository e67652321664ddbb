"""Connect's schemas and values in Avro, and back; the converter's settings, caches and errors."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.api import DataError, Field, RetriableError, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.registry.avro.converter import AvroConverter
from broker.registry.schema import Content, SchemaReference
from tests.broker.connect.converters.fake_registry import FakeRegistry, converter_of
from tests.broker.connect.converters.typed_values import typed
from tests.examples import examples

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
INT = Schema(Type.INT32)


def avro(registry=None, **props):
    return converter_of(AvroConverter, registry or FakeRegistry(), **props)


def read(text, data, *referred):
    """What the converter makes of bytes that were written by a schema of somebody else's."""
    registry = FakeRegistry()
    for subject, content in referred:
        registry.register(subject, content)
    references = tuple(SchemaReference(subject, subject, 1) for subject, _ in referred)
    schema_id = registry.register("s", Content("AVRO", text, references))
    return avro(registry).to_connect("t", (), b"\0" + schema_id.to_bytes(4) + data)


@given(st.data())
@settings(max_examples=examples(400))
def test_every_value_comes_back_with_its_schema(data):
    schema, values = data.draw(typed(names=NAMES, struct_name=None, fields_min=1))
    value = data.draw(values)
    made = avro()
    written = made.from_connect("t", (), schema, value)
    assert made.to_connect("t", (), written) == ((None, None) if value is None else (schema, value))


def test_a_struct_is_a_record_of_its_name_whose_optional_fields_are_null_first():
    fields = (Field("id", Schema(Type.INT8)), Field("note", types.OPTIONAL_STRING))
    registry = FakeRegistry()
    schema = Schema(Type.STRUCT, name="shop.Order", version=2, fields=fields)
    written = avro(registry).from_connect("t", (), schema, Struct(schema, {"id": 1}))
    assert written == b"\0\0\0\0\1\2\0"
    assert json.loads(registry.contents[0].text) == {
        "type": "record", "name": "Order", "namespace": "shop",
        "fields": [
            {"name": "id", "type": {"type": "int", "connect.type": "int8"}},
            {"name": "note", "type": ["null", "string"], "default": None},
        ],
        "connect.version": 2, "connect.name": "shop.Order",
    }  # fmt: skip


def test_defaults_are_those_of_fields_and_stand_first_in_their_union():
    fields = (
        Field("a", Schema(Type.INT32, optional=True, default=7)),
        Field("b", Schema(Type.BYTES, default=b"\xff")),
        Field("c", Schema(**{**types.decimal_schema(2).__dict__, "default": Decimal("1.25")})),
        Field("d", Schema(Type.ARRAY, value_schema=INT, default=[1, 2])),
        Field("e", Schema(**{**types.date_schema().__dict__, "default": date(2020, 2, 3)})),
    )
    registry = FakeRegistry()
    schema = Schema(Type.STRUCT, fields=fields)
    made = avro(registry)
    only, value = made.to_connect("t", (), made.from_connect("t", (), schema, Struct(schema, {})))
    assert only == schema
    assert dict(value) == {"a": 7, "b": b"\xff", "c": Decimal("1.25"), "d": [1, 2], "e": date(2020, 2, 3)}
    (first, *_) = json.loads(registry.contents[0].text)["fields"]
    assert (first["type"][1], first["default"]) == ("null", 7)


def test_a_schema_used_twice_is_spoken_of_by_its_name():
    inner = Schema(Type.STRUCT, name="a.In", fields=(Field("x", INT),))
    optional = Schema(Type.STRUCT, True, "a.In", fields=inner.fields)
    schema = Schema(Type.STRUCT, name="a.Out", fields=(Field("one", inner), Field("two", optional)))
    made = avro()
    value = Struct(schema, {"one": Struct(inner, {"x": 1}), "two": Struct(optional, {"x": 2})})
    assert made.to_connect("t", (), made.from_connect("t", (), schema, value)) == (schema, value)
    other = Schema(Type.STRUCT, name="a.In", fields=(Field("y", INT),))
    two = Schema(Type.STRUCT, name="a.Out", fields=(Field("one", inner), Field("two", other)))
    with pytest.raises(DataError, match=r"a\.In"):
        made.from_connect("t", (), two, Struct(two, {}))


def test_what_others_wrote_is_read_with_connects_types():
    text = """{"type":"record","name":"R","namespace":"n","doc":"of it","fields":[
        {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
        {"name":"kind","type":{"type":"enum","name":"K","symbols":["A","B"]}},
        {"name":"sum","type":{"type":"fixed","name":"F","size":3,"logicalType":"decimal","precision":5,"scale":1}},
        {"name":"any","type":["null","int","long",{"type":"map","values":"string"},"n.K"]},
        {"name":"one","type":["int"]}]}"""
    schema, value = read(text, b"\xd0\x0f\x02\xff\xff\xf6\x04\x0a\x00\x04")
    assert (schema.name, schema.doc) == ("n.R", "of it")
    assert value["at"] == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert (value["kind"], value["sum"], value["one"]) == ("B", Decimal("-1.0"), 2)
    assert {name: item for name, item in value["any"].items() if item is not None} == {"long": 5}
    made = avro()
    assert made.to_connect("t", (), made.from_connect("t", (), schema, value)) == (schema, value)


def test_a_schema_that_refers_to_another_is_read():
    inner = '{"type":"record","name":"a.In","fields":[{"name":"x","type":"int"}]}'
    text = (
        '{"type":"record","name":"a.Out","fields":[{"name":"in","type":"a.In"},{"name":"more","type":["null","a.In"]}]}'
    )
    _, value = read(text, b"\x02\x02\x04", ("a.In", Content("AVRO", inner)))
    assert (value["in"]["x"], value["more"]["x"]) == (1, 2)


@pytest.mark.parametrize(
    "text",
    [
        '"null"',
        '["null"]',
        '{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]}]}',
        '{"type":"array","items":{"type":"record","name":"R","fields":[]}}',
    ],
)
def test_what_connect_has_no_schema_for_is_a_data_error(text):
    with pytest.raises(DataError):
        read(text, b"\0")


@pytest.mark.parametrize(
    "data", [b"", b"\0\0\0", b"{}text", b"\0\0\0\0\x63a", b"\0\0\0\0\1", b"\0\0\0\0\1\xff\xff\xff\xff\xff\x7f"]
)
def test_bytes_that_nobody_wrote_are_a_data_error(data):
    registry = FakeRegistry()
    registry.register("s", Content("AVRO", '"string"'))
    with pytest.raises(DataError):
        avro(registry).to_connect("t", (), data)


def test_bytes_alone_stand_without_their_length_as_other_serializers_write_them():
    made = avro()
    written = made.from_connect("t", (), types.BYTES, b"abc")
    assert written == b"\0\0\0\0\1abc"
    assert made.to_connect("t", (), written) == (types.BYTES, b"abc")


def test_null_is_null_and_a_value_without_schema_is_refused():
    assert avro().from_connect("t", (), None, None) is None
    assert avro().from_connect("t", (), types.OPTIONAL_STRING, None) is None
    assert avro().to_connect("t", (), None) == (None, None)
    for schema, value in ((None, {"a": 1}), (types.STRING, None), (INT, "text"), (Schema(Type.INT8), 128)):
        with pytest.raises(DataError):
            avro().from_connect("t", (), schema, value)


@pytest.mark.parametrize(
    ("strategy", "is_key", "subject"),
    [
        ("TopicNameStrategy", False, "t-value"),
        ("TopicNameStrategy", True, "t-key"),
        ("RecordNameStrategy", False, "a.R"),
        ("io.confluent.kafka.serializers.subject.TopicRecordNameStrategy", True, "t-a.R"),
    ],
)
def test_subjects_are_named_by_strategy(strategy, is_key, subject):
    registry = FakeRegistry()
    side = "key" if is_key else "value"
    made = avro(registry, is_key=is_key, **{f"{side}.subject.name.strategy": strategy})
    schema = Schema(Type.STRUCT, name="a.R")
    made.from_connect("t", (), schema, Struct(schema, {}))
    assert list(registry.by_subject) == [subject]


def test_a_schema_without_a_name_has_no_subject_by_record():
    with pytest.raises(DataError, match="RecordNameStrategy"):
        avro(**{"value.subject.name.strategy": "RecordNameStrategy"}).from_connect("t", (), INT, 1)


def test_without_auto_register_only_known_schemas_are_written():
    registry = FakeRegistry()
    strict = avro(registry, auto_register_schemas="false")
    with pytest.raises(DataError):
        strict.from_connect("t", (), INT, 1)
    registry.register("t-value", Content("AVRO", '"int"'))
    assert strict.from_connect("t", (), INT, 1) == b"\0\0\0\0\1\2"


def test_the_latest_schema_is_what_values_are_written_by_if_so_wanted():
    registry = FakeRegistry()
    latest = {"type": "record", "name": "R", "fields": [
        {"name": "more", "type": "string", "default": "none"}, {"name": "id", "type": "long"},
    ]}  # fmt: skip
    registry.register("t-value", Content("AVRO", json.dumps(latest)))
    made = avro(registry, auto_register_schemas="false", use_latest_version="true")
    schema = Schema(Type.STRUCT, name="R", fields=(Field("id", INT), Field("gone", types.STRING)))
    written = made.from_connect("t", (), schema, Struct(schema, {"id": 5, "gone": "x"}))
    assert dict(made.to_connect("t", (), written)[1]) == {"more": "none", "id": 5}


def test_a_schema_is_asked_for_once_and_the_caches_stay_bounded():
    registry = FakeRegistry()
    made = avro(registry, schemas_cache_config="2")
    written = made.from_connect("t", (), INT, 1)
    for _ in range(3):
        assert made.from_connect("t", (), INT, 1) == written
        assert made.to_connect("t", (), written) == (INT, 1)
    assert registry.request_count == 2
    for number in range(5):
        made.to_connect("t", (), made.from_connect("t", (), Schema(Type.INT32, name=f"n{number}"), 1))
    assert (len(made._writers), len(made._readers)) == (2, 2)


def test_a_registry_that_is_away_is_asked_again_and_what_it_refused_is_not_remembered():
    registry = FakeRegistry()
    registry.away = RetriableError("away")
    made = avro(registry)
    with pytest.raises(RetriableError):
        made.from_connect("t", (), INT, 1)
    registry.away = None
    assert made.from_connect("t", (), INT, 1) == b"\0\0\0\0\1\2"


def test_maps_of_other_keys_are_arrays_of_entries_that_others_read():
    registry = FakeRegistry()
    inner = Schema(Type.MAP, key_schema=INT, value_schema=types.STRING)
    schema = Schema(Type.MAP, key_schema=Schema(Type.INT64), value_schema=inner)
    written = avro(registry).from_connect("t", (), schema, {1: {2: "x"}})
    registered_schema = json.loads(registry.contents[0].text)
    assert registered_schema["items"]["namespace"] == "io.confluent.connect.avro"
    decoded = fastavro.schemaless_reader(io.BytesIO(written[5:]), fastavro.parse_schema(registered_schema), None)
    assert decoded == [{"key": 1, "value": [{"key": 2, "value": "x"}]}]
