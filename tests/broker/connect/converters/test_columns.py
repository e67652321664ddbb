"""Converters that read many values at once say the same of each as when they read it alone, also of what is wrong."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.api import Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.json import JsonConverter
from broker.connect.converters.json_schema_form import schema_to_json
from broker.connect.converters.json_values import JsonValues
from broker.connect.converters.registry.avro.converter import AvroConverter
from tests.broker.connect.converters.fake_registry import FakeRegistry, converter_of
from tests.broker.connect.converters.typed_values import TEXTS, typed
from tests.examples import examples

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
ORDER = Schema(
    Type.STRUCT,
    fields=(
        Field("id", types.INT64),
        Field("small", Schema(Type.INT8, optional=True)),
        Field("price", types.FLOAT64),
        Field("item", Schema(Type.STRING, default="pear")),
        Field("paid", types.BOOLEAN),
        Field("at", types.timestamp_schema()),
        Field("payload", types.OPTIONAL_BYTES),
        Field("tags", Schema(Type.ARRAY, True, value_schema=types.STRING)),
        Field("note", Schema(Type.STRING, True, default="none")),
    ),
)
ORDER_PAYLOAD = {
    "id": 2**62, "small": -1, "price": 1.5, "item": "a", "paid": True, "at": 5, "payload": "YQ==", "tags": ["x"],
    "note": "b",
}  # fmt: skip
SAID = schema_to_json(ORDER, JsonValues().to_json)
ODD = [None, True, 0, 127, 128, -129, 2**31, 2**63, -(2**63) - 1, 1e300, 1.0, "NaN", "", "YQ==", "payload", [], {}, [1]]


def one_by_one(converter, values):
    """Schema and value of each, or the error's text, in words that tell 1 from 1.0."""
    messages = []
    for item in values:
        try:
            schema, value = converter.to_connect("t", (), item)
        except Exception as error:  # whatever it raises is what is compared
            messages.append(type(error).__name__)
        else:
            messages.append((schema, repr(value.values_by_name if isinstance(value, Struct) else value)))
    return messages


def together(converter, values):
    """The same of what was read at once; None if that was not to be."""
    try:
        result = converter.to_columns("t", values)
    except Exception:  # the worker reads them one by one then
        return None
    if result is None:
        return None
    schema, columns = result
    assert len(columns) == len(schema.fields)
    names = [field.name for field in schema.fields]
    return [(schema, repr(dict(zip(names, row, strict=True)))) for row in zip(*columns, strict=True)]


def envelope(schema, payload, separators=None):
    return json.dumps({"schema": schema, "payload": payload}, separators=separators).encode()


@st.composite
def wrong_bytes(draw, right):
    """Bytes near to those that are right: cut, doubled, with something in between."""
    at, end = sorted(draw(st.tuples(*[st.integers(0, len(right))] * 2)))
    between = draw(st.sampled_from([b"", b" ", b"}", b"{", b",", b'"payload":', b'"payload":1,', b"\0", b"null", b"1"]))
    return draw(st.sampled_from([right[:at] + between + right[end:], right[:end] + between + right[at:], between]))


@st.composite
def orders(draw):
    """Envelopes of one schema, most of them right."""
    schema_document = SAID
    made = []
    for _ in range(draw(st.integers(1, 6))):
        payload = dict(ORDER_PAYLOAD, id=draw(st.integers(-(2**63), 2**63 - 1)), item=draw(TEXTS))
        match draw(
            st.sampled_from(["right"] * 4 + ["odd", "gone", "more", "order", "bytes", "space", "other", "text"])
        ):
            case "odd":
                payload[draw(st.sampled_from(sorted(payload)))] = draw(st.sampled_from(ODD))
            case "gone":
                del payload[draw(st.sampled_from(sorted(payload)))]
            case "more":
                payload[draw(st.sampled_from(["unknown", "schema"]))] = draw(st.sampled_from(ODD))
            case "order":
                made.append(json.dumps({"payload": payload, "schema": schema_document}).encode())
                continue
            case "bytes":
                made.append(draw(wrong_bytes(envelope(schema_document, payload))))
                continue
            case "space":
                made.append(envelope(schema_document, payload, (" ,\n", " :\t")) + draw(st.sampled_from([b"", b" "])))
                continue
            case "other":
                made.append(envelope({**schema_document, "optional": True}, payload))
                continue
            case "text":
                made.append(envelope({"type": "string"}, "payload"))
                continue
        made.append(envelope(schema_document, payload))
    return made


@given(orders(), st.booleans(), st.booleans())
@settings(max_examples=examples(2_000))
def test_json_orders_right_and_wrong(values, replaces, knows_the_schema):
    converter = JsonConverter()
    converter.configure({"replace.null.with.default": str(replaces).lower()}, False)
    if knows_the_schema:
        assert together(converter, [envelope(SAID, ORDER_PAYLOAD)]) is not None
    assert together(converter, values) in (None, one_by_one(converter, values))


@given(st.data())
@settings(max_examples=examples(400))
def test_structs_of_any_fields_in_json_and_avro(data):
    schema, values = data.draw(typed(names=NAMES, struct_name=None, fields_min=1))
    made = [list_ for list_ in data.draw(st.lists(values, min_size=1, max_size=4)) if list_ is not None]
    for converter in (JsonConverter(), converter_of(AvroConverter, FakeRegistry())):
        written = [converter.from_connect("t", (), schema, item) for item in made]
        if written and data.draw(st.integers(0, 3)) == 0:
            at = data.draw(st.integers(0, len(written) - 1))
            written[at] = data.draw(wrong_bytes(written[at]))
        if written:
            assert together(converter, written) in (None, one_by_one(converter, written))


@pytest.mark.parametrize("separators", [None, (",", ":")])
def test_what_is_right_is_read_at_once(separators):
    values = [envelope(SAID, dict(ORDER_PAYLOAD, id=index), separators) for index in range(3)]
    converter = JsonConverter()
    result = together(converter, values)
    assert result is not None
    assert result == one_by_one(converter, values)
    avro = converter_of(AvroConverter, FakeRegistry())
    written = [avro.from_connect("t", (), *converter.to_connect("t", (), value)) for value in values]
    assert together(avro, written) == one_by_one(avro, written)


@pytest.mark.parametrize("replaces", ["true", "false"])
def test_a_member_of_any_other_kind_is_what_it_is_alone(replaces):
    converter = JsonConverter()
    converter.configure({"replace.null.with.default": replaces}, False)
    right = envelope(SAID, ORDER_PAYLOAD)
    assert together(converter, [right]) is not None
    for name in ORDER_PAYLOAD:
        for odd in ODD:
            values = [right, envelope(SAID, ORDER_PAYLOAD | {name: odd}), right]
            assert together(converter, values) in (None, one_by_one(converter, values)), (name, odd)


def test_what_ends_otherwise_is_read_alone():
    right = envelope(SAID, ORDER_PAYLOAD)
    converter = JsonConverter()
    assert together(converter, [right]) is not None
    for wrong in (right + b" ", right[:-1] + b" ", right[:-1], right + b"}", right[:-1] + b',"more":1}', b""):
        assert together(converter, [right, wrong]) is None


def test_a_payload_cannot_reach_into_its_neighbour():
    """Read as one array they would be two of the right kind."""
    right = envelope(SAID, ORDER_PAYLOAD)
    head = right[: right.rindex(b'"payload": {') + 11]
    body = json.dumps(ORDER_PAYLOAD).encode()
    values = [head + body + b"," + body[:-1] + b',"x":[1}', head + b"2]}" + b"}"]
    converter = JsonConverter()
    assert together(converter, [right]) is not None
    assert together(converter, values) is None
    assert one_by_one(converter, values) == ["DataError", "DataError"]


def test_what_is_as_deep_as_json_goes_is_left_to_who_reads_it_alone():
    schema = {"type": "struct", "fields": [{"type": "struct", "field": "a", "optional": True, "fields": []}]}
    values = [b'{"schema":%b,"payload":{"a":{"b":%b}}}' % (json.dumps(schema).encode(), b"[" * 1022 + b"]" * 1022)]
    converter = JsonConverter()
    assert one_by_one(converter, values) == ["DataError"]
    assert together(converter, values) is None
