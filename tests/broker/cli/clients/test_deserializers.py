import struct

import pytest

from broker.cli.clients.deserializers import deserializer
from broker.cli.frame.declaration import CommandError

PACKAGE = "org.apache.kafka.common.serialization."


@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("StringDeserializer", "Zoë".encode(), "Zoë"),
        ("StringDeserializer", b"\xff", "\ufffd"),
        ("LongDeserializer", struct.pack(">q", -5), "-5"),
        ("IntegerDeserializer", struct.pack(">i", 7), "7"),
        ("ShortDeserializer", struct.pack(">h", 7), "7"),
        ("BooleanDeserializer", b"\1", "true"),
        ("BytesDeserializer", b"a\\\x00~\x7f", "a\\x5C\\x00~\\x7F"),
        ("UUIDDeserializer", b"123E4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("VoidDeserializer", b"", "null"),
    ],
)
def test_bytes_are_shown_as_java_shows_the_value(name, data, shown):
    assert deserializer(PACKAGE + name)(data).decode() == shown
    assert deserializer(name)(data).decode() == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (120.0, "120.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.25e10, "1.25E10"),
        (-123.456, "-123.456"),
        (5e-324, "5.0E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_are_written_as_java_writes_them(value, shown):
    assert deserializer("DoubleDeserializer")(struct.pack(">d", value)).decode() == shown


@pytest.mark.parametrize(("value", "shown"), [(0.1, "0.1"), (3.4e38, "3.4E38"), (16777216.0, "1.6777216E7")])
def test_floats_have_the_digits_of_four_bytes(value, shown):
    assert deserializer("FloatDeserializer")(struct.pack(">f", value)).decode() == shown


def test_bytes_of_another_length_are_refused_and_so_is_a_class_that_nobody_has():
    with pytest.raises(CommandError, match="Size of data received is 3, not 8"):
        deserializer("LongDeserializer")(b"abc")
    with pytest.raises(CommandError, match=r"Class com\.acme\.Avro could not be found"):
        deserializer("com.acme.Avro")
