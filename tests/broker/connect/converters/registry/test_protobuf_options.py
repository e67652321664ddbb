"""Settings of Confluent's ProtobufConverter that change what is written."""

import pytest

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.registry.scrubbing import scrubbed_protobuf_name
from tests.broker.connect.converters.fake_registry import FakeRegistry
from tests.broker.connect.converters.registry.test_avro_options import NOTE, struct
from tests.broker.connect.converters.registry.test_protobuf_converter import converter, plain

ROW = struct(("id", types.INT64), ("note", NOTE))


@pytest.mark.parametrize(("props", "note"), [({}, "none"), ({"ignore_default_for_nullables": "true"}, None)])
def test_a_null_may_stay_one_beside_its_default(props, note):
    made = converter(optional_for_nullables="true", **props)
    _, back = made.to_connect("t", (), made.from_connect("t", (), ROW, Struct(ROW, {"id": 1})))
    assert plain(back) == {"id": 1, "note": note}


def test_a_required_field_has_its_default_whatever_is_said_of_nullable_ones():
    schema = struct(("n", Schema(Type.INT32, default=7)))
    made = converter(ignore_default_for_nullables="true")
    assert plain(made.to_connect("t", (), made.from_connect("t", (), schema, Struct(schema, {})))[1]) == {"n": 7}


@pytest.mark.parametrize(
    ("name", "scrubbed"),
    [("abc-def", "abc_def"), ("0abc", "x0abc"), ("_abc", "x_abc"), ("abc", "abc"), ("ä", "x_C3_A4"), ("", "x")],
)
def test_a_scrubbed_name_begins_with_a_letter(name, scrubbed):
    assert scrubbed_protobuf_name(name) == scrubbed


def test_names_that_protobuf_has_no_words_for_are_scrubbed_where_that_is_wanted():
    inner = struct(("zip-code", types.STRING), name="shop.post-address")
    pairs = Schema(Type.MAP, key_schema=types.INT8, value_schema=types.STRING)
    schema = struct(("first name", types.STRING), ("to", inner), ("by-day", pairs), name="my-shop.order-2")
    value = Struct(schema, {"first name": "x", "to": Struct(inner, {"zip-code": "2"}), "by-day": {1: "a"}})
    with pytest.raises(DataError, match="no names like"):
        converter().from_connect("t", (), schema, value)
    registry = FakeRegistry()
    made = converter(registry, scrub_invalid_names="true")
    _, back = made.to_connect("t", (), made.from_connect("t", (), schema, value))
    assert plain(back) == {"first_name": "x", "to": {"zip_code": "2"}, "by_day": {1: "a"}}
    assert "package my_shop;" in registry.contents[0].text


def test_the_branches_of_a_union_are_scrubbed_too():
    optional = Schema(Type.STRING, optional=True)
    union = Schema(
        Type.STRUCT,
        True,
        "io.confluent.connect.protobuf.Union.one-of",
        fields=(Field("a-b", optional), Field("c", optional)),
    )
    schema = struct(("one-of_0", union))
    made = converter(scrub_invalid_names="true")
    written = made.from_connect("t", (), schema, Struct(schema, {"one-of_0": Struct(union, {"a-b": "x"})}))
    assert plain(made.to_connect("t", (), written)[1]) == {"one_of_0": {"a_b": "x", "c": None}}
