import json
import math
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.json import JsonConverter
from broker.connect.converters.json_values import JsonValues
from tests.broker.connect.converters.typed_values import typed


def converter(**props) -> JsonConverter:
    made = JsonConverter()
    made.configure({key.replace("_", "."): value for key, value in props.items()}, False)
    return made


@given(st.data(), st.sampled_from(["BASE64", "NUMERIC"]))
def test_every_value_comes_back_with_its_schema(data, decimals):
    schema, values = data.draw(typed())
    value = data.draw(values)
    made = converter(decimal_format=decimals)
    assert made.to_connect("t", (), made.from_connect("t", (), schema, value)) == (schema, value)


def test_a_text_is_written_as_the_documents_show_it():
    assert json.loads(JsonConverter().from_connect("t", (), types.STRING, "foo")) == {
        "schema": {"type": "string", "optional": False},
        "payload": "foo",
    }


def test_without_schemas_the_payload_stands_alone():
    plain = converter(schemas_enable="false")
    assert plain.from_connect("t", (), types.STRING, "foo") == b'"foo"'
    assert plain.to_connect("t", (), b'{"a":[1,2.5,null]}') == (None, {"a": [1, 2.5, None]})


def test_null_is_null():
    assert JsonConverter().from_connect("t", (), None, None) is None
    assert JsonConverter().to_connect("t", (), None) == (None, None)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b'{"payload":1}',
        b'{"schema":null,"payload":1,"more":2}',
        b'{"schema":{"type":"odd"},"payload":1}',
        b'{"schema":{"type":"int8"},"payload":128}',
        b'{"schema":{"type":"int8"},"payload":null}',
        b'{"schema":{"type":"array"},"payload":[]}',
        b'{"schema":{"type":"struct","fields":[{"type":"int8"}]},"payload":{}}',
        b'{"schema":{"type":["int8"]},"payload":1}',
        b'{"schema":{"type":"bytes"},"payload":"*"}',
        b'{"schema":{"type":"boolean"},"payload":1}',
        b"[" * 100_000,
        b'{"schema":' + b'{"type":"array","items":' * 500 + b'{"type":"int8"}' + b"}" * 500 + b',"payload":[]}',
    ],
)
def test_what_is_no_envelope_is_a_data_error(data):
    with pytest.raises(DataError):
        JsonConverter().to_connect("t", (), data)


def test_a_null_takes_the_default_unless_told_otherwise():
    schema = Schema(Type.STRUCT, fields=(Field("a", Schema(Type.INT32, optional=True, default=7)),))
    written = JsonConverter().from_connect("t", (), schema, Struct(schema, {"a": None}))
    assert json.loads(written)["payload"] == {"a": 7}
    kept = converter(replace_null_with_default="false").from_connect("t", (), schema, Struct(schema, {"a": None}))
    assert json.loads(kept)["payload"] == {"a": None}


def test_a_decimal_is_a_number_with_all_its_digits_if_so_wanted():
    schema = types.decimal_schema(20)
    value = Decimal("12345678901234567890.12345678901234567890")
    written = converter(decimal_format="NUMERIC").from_connect("t", (), schema, value)
    assert b'"payload":12345678901234567890.12345678901234567890' in written


def test_a_decimal_that_would_lose_digits_is_refused():
    with pytest.raises(DataError, match="scale"):
        JsonConverter().from_connect("t", (), types.decimal_schema(1), Decimal("1.25"))


def test_not_a_number_survives():
    written = JsonConverter().from_connect("t", (), types.FLOAT64, math.nan)
    assert math.isnan(JsonConverter().to_connect("t", (), written)[1])


def test_the_caches_stay_bounded():
    made = converter(schemas_cache_size="2")
    for number in range(5):
        written = made.from_connect("t", (), Schema(Type.INT32, name=f"n{number}"), 1)
        made.to_connect("t", (), written)
    assert len(made._written) <= 2
    assert len(made._read) <= 2


def test_a_moment_is_milliseconds():
    written = JsonConverter().from_connect("t", (), types.timestamp_schema(), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    assert json.loads(written)["payload"] == 1000


def test_a_map_without_the_schema_of_its_keys_is_refused_with_a_sentence():
    """A plugin's connector can make one: its schemas are its own."""
    halved = Schema(Type.MAP, value_schema=types.STRING)
    with pytest.raises(DataError, match="map without the schema of its keys"):
        JsonConverter().from_connect("t", (), halved, {"a": "b"})
    with pytest.raises(DataError, match="map without the schema of its keys"):
        JsonValues().from_json(halved, [["a", "b"]])
