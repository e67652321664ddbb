"""Protobuf without a schema: fields by number as protoc shows them, and an end to whatever bytes claim to be."""

import pytest
from google.protobuf import struct_pb2, timestamp_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.records.protobuf_wire import DEPTH_MAX, FIELDS_MAX, wire_text
from console.cluster.records.text import text_of
from tests.examples import examples


def lines(data: bytes, length_max: int = 10_000) -> list[str] | None:
    result = wire_text(data, length_max)
    return result and result[0].splitlines()


def test_fields_have_their_number_and_what_they_may_be():
    inner = b"\x08\x96\x01"
    data = inner + b"\x12\x04Bern" + b"\x1a\x03" + inner + b"\x22\x02\xff\xfe" + b"\x29" + bytes(6) + b"\xf0\x3f"
    assert lines(data) == [
        "1: 150", '2: "Bern"', "3 {", "  1: 150", "}", "4: ff fe (2 bytes)", "5: 0x3ff0000000000000 (1)"
    ]  # fmt: skip
    assert lines(b"\x35\x00\x00\x80\x3f") == ["6: 0x3f800000 (1)"]
    assert lines(b"\x0b\x10\x01\x0c") == ["1 {", "  2: 1", "}"]


def test_messages_of_the_library_are_read():
    message = struct_pb2.Struct()
    message.update({"city": "Bern", "open": True})
    result = lines(message.SerializeToString(deterministic=True))
    assert '  1: "city"' in result
    assert '    3: "Bern"' in result
    assert lines(timestamp_pb2.Timestamp(seconds=7, nanos=9).SerializeToString()) == ["1: 7", "2: 9"]


def test_a_record_is_shown_so_when_it_is_asked_for():
    shown = text_of(b"\x08\x96\x01", "protobuf")
    assert (shown.kind, shown.text) == ("protobuf", "1: 150")
    assert text_of(b"\x00\x00\x00\x00\x07\x00\x08\x96\x01", "protobuf").text == "1: 150"
    assert (text_of(b"\xff\xff", "protobuf").kind, text_of(b"\xff\xff", "protobuf").note) == (
        "hex", "no Protobuf message"
    )  # fmt: skip


def nested(depth: int) -> bytes:
    data = b"\x08\x01"
    for _ in range(depth):
        size, head = len(data), b""
        while size > 127:
            head, size = head + bytes([size & 127 | 128]), size >> 7
        data = b"\x0a" + head + bytes([size]) + data
    return data


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00\x01", b"\x08", b"\x0a\x05abc", b"\x08" + b"\xff" * 10, b"\x08" + b"\xff" * 9 + b"\x02",
     b"\x08" + b"\x80" * 100_000 + b"\x01", b"\x0f", b"\x0c", b"\x0b\x08\x01", b"\x0b" * 10_000,
     b"\x08\x01" * FIELDS_MAX + b"\x08\x01",
     b"\x0a" + b"\xff" * 4 + b"\x0f", b"\x80\x80\x80\x80\x80\x01\x01"],
)  # fmt: skip
def test_what_is_cut_endless_or_too_much_is_no_message(data):
    assert wire_text(data, 1_000) is None


def test_what_nests_deeper_than_is_looked_at_stays_bytes():
    text = lines(nested(DEPTH_MAX + 5), 100_000)
    assert max(len(line) - len(line.lstrip()) for line in text) <= 2 * DEPTH_MAX
    assert any("bytes)" in line or '"' in line for line in text)


def test_no_more_is_written_than_is_shown():
    text, is_cut = wire_text(b"\x08\x01" * 5_000, 100)
    assert (len(text) <= 100, is_cut) == (True, True)


@settings(max_examples=examples(500))
@given(st.binary(max_size=400))
def test_no_bytes_make_it_fail(data):
    result = wire_text(data, 2_000)
    assert result is None or len(result[0]) <= 2_000
