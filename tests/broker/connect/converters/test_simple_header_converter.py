from datetime import UTC, datetime
from decimal import Decimal

import pytest

from broker.connect.api.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    INT8,
    INT16,
    STRING,
    Schema,
    Type,
    decimal_schema,
    timestamp_schema,
)
from broker.connect.converters.simple_header import SimpleHeaderConverter


@pytest.mark.parametrize(
    ("data", "schema", "value"),
    [
        (b"a", STRING, "a"),
        (b"true", BOOLEAN, True),
        (b"7", INT8, 7),
        (b"300", INT16, 300),
        (b"1.5", FLOAT32, 1.5),
        (b'{"a":1}', Schema(Type.MAP, key_schema=STRING, value_schema=INT8), {"a": 1}),
        (b'["a",1]', Schema(Type.ARRAY), ["a", 1]),
        (b"2023-11-14T22:13:20.123Z", timestamp_schema(), datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC)),
        (b"{", STRING, "{"),
        (b"9" * 19, decimal_schema(0), Decimal("9" * 19)),
        (b"\xff", BYTES, b"\xff"),
        (None, None, None),
    ],
)
def test_a_header_is_what_its_text_looks_like(data, schema, value):
    assert SimpleHeaderConverter().to_connect_header("t", "k", data) == (schema, value)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("a", b"a"),
        (True, b"true"),
        ([1, "b"], b'[1,"b"]'),
        (1e7, b"1.0E7"),
        (datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC), b"2023-11-14T22:13:20.123Z"),
        (None, None),
    ],
)
def test_a_header_is_written_as_text(value, data):
    assert SimpleHeaderConverter().from_connect_header("t", "k", None, value) == data
