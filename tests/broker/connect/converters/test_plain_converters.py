import pytest

from broker.connect.api import ConfigError, DataError
from broker.connect.api import schema as types
from broker.connect.converters import plain


@pytest.mark.parametrize(
    ("converter", "value", "data"),
    [
        (plain.StringConverter, "ä", "ä".encode()),
        (plain.ByteArrayConverter, b"\x00\xff", b"\x00\xff"),
        (plain.BooleanConverter, True, b"\x01"),
        (plain.ShortConverter, -2, b"\xff\xfe"),
        (plain.IntegerConverter, 1, b"\x00\x00\x00\x01"),
        (plain.LongConverter, 1, b"\x00" * 7 + b"\x01"),
        (plain.FloatConverter, 1.5, b"\x3f\xc0\x00\x00"),
        (plain.DoubleConverter, 1.5, b"\x3f\xf8" + b"\x00" * 6),
    ],
)
def test_values_are_written_as_java_does_and_come_back(converter, value, data):
    made = converter()
    assert made.from_connect("t", (), None, value) == data
    assert made.to_connect("t", (), data)[1] == value
    assert made.from_connect("t", (), None, None) is None
    assert made.to_connect("t", (), None)[1] is None


def test_what_does_not_fit_is_refused():
    for call in (
        lambda: plain.ShortConverter().from_connect("t", (), None, 1 << 15),
        lambda: plain.IntegerConverter().from_connect("t", (), None, "1"),
        lambda: plain.LongConverter().to_connect("t", (), b"1"),
        lambda: plain.ByteArrayConverter().from_connect("t", (), types.STRING, "a"),
        lambda: plain.StringConverter().to_connect("t", (), b"\xff"),
    ):
        with pytest.raises(DataError):
            call()


def test_a_string_converter_knows_other_encodings_and_refuses_what_is_none():
    made = plain.StringConverter()
    made.configure({"converter.encoding": "ISO-8859-1"}, False)
    assert made.from_connect("t", (), None, "ä") == b"\xe4"
    with pytest.raises(ConfigError):
        made.configure({"converter.encoding": "odd"}, False)


def test_other_values_become_texts():
    made = plain.StringConverter()
    assert made.from_connect("t", (), None, True) == b"true"
    assert made.from_connect("t", (), None, {"a": [1, None]}) == b'{"a":[1,null]}'
