import pytest

from broker.connect.api.schema import BOOLEAN, BYTES, FLOAT64, INT8, INT16, STRING
from broker.connect.converters.simple_header import SimpleHeaderConverter


@pytest.mark.parametrize(
    ("data", "schema", "value"),
    [
        (b"a", STRING, "a"),
        (b"true", BOOLEAN, True),
        (b"7", INT8, 7),
        (b"300", INT16, 300),
        (b"1.5", FLOAT64, 1.5),
        (b'{"a":1}', None, {"a": 1}),
        (b"{", STRING, "{"),
        (b"9" * 19, STRING, "9" * 19),
        (b"\xff", BYTES, b"\xff"),
        (None, None, None),
    ],
)
def test_a_header_is_what_its_text_looks_like(data, schema, value):
    assert SimpleHeaderConverter().to_connect_header("t", "k", data) == (schema, value)


@pytest.mark.parametrize(("value", "data"), [("a", b"a"), (True, b"true"), ([1], b"[1]"), (None, None)])
def test_a_header_is_written_as_text(value, data):
    assert SimpleHeaderConverter().from_connect_header("t", "k", None, value) == data
