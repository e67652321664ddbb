"""CBOR is read as JSON as RFC 8949 says, and whatever bytes there are it comes to an end."""

import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.cluster.records.cbor import BYTES_MAX, DEPTH_MAX, as_json
from console.cluster.records.text import document_text, text_of
from tests.examples import examples

#: Of appendix A: what stands alone there is put into an array of one.
EXAMPLES = [
    ("1903e8", 1000), ("1bffffffffffffffff", 2**64 - 1), ("c249010000000000000000", 2**64),
    ("3bffffffffffffffff", -(2**64)), ("c349010000000000000000", -(2**64) - 1), ("20", -1), ("f90000", 0.0),
    ("f93e00", 1.5), ("f97bff", 65504.0), ("fa47c35000", 100000.0), ("fb3ff199999999999a", 1.1), ("f97e00", "nan"),
    ("f97c00", "inf"), ("f4", False), ("f5", True), ("f6", None), ("f7", None), ("f0", "simple(16)"),
    ("f8ff", "simple(255)"), ("c11a514b67b0", 1363896240), ("4401020304", "01020304"), ("6449455446", "IETF"),
    ("62c3bc", "ü"), ("83010203", [1, 2, 3]), ("a201020304", {"1": 2, "3": 4}),
    ("a26161016162820203", {"a": 1, "b": [2, 3]}),
    ("5f42010243030405ff", "0102030405"), ("7f657374726561646d696e67ff", "streaming"),
    ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]), ("bf61610161629f0203ffff", {"a": 1, "b": [2, 3]}),
]  # fmt: skip


@pytest.mark.parametrize(("written", "expected"), EXAMPLES)
def test_it_says_what_the_standard_says(written, expected):
    assert json.loads(as_json(b"\x81" + bytes.fromhex(written))) == [expected]


def test_a_record_of_it_is_shown_and_has_columns():
    data = b"\xd9\xd9\xf7\xa2\x64name\x63Ada\x63age\x18\x24"
    shown = text_of(data, "auto")
    assert (shown.kind, shown.note) == ("json", "CBOR")
    assert json.loads(shown.text) == json.loads(document_text(data)) == {"name": "Ada", "age": 36}


@pytest.mark.parametrize(
    "data",
    [b"\x81", b"\x81\x01\x00", b"\x80", b"\xa0", b"\x07", b"\x81\xff", b"\x9f\x01", b"\x81\x1c", b"\x81\x61\xff",
     b"\xa2\x61a\x01\x61a\x02", b"\xa2\x01\x01\x611\x02", b"\xa1\x81\x01\x01", b"\x9b" + b"\xff" * 8,
     b"\x5b" + b"\xff" * 8,
     b"\xbb" + b"\xff" * 8, b"\x81\xc2\x59\x03\xe8" + b"\xff" * 1000, b"\x81" * 100_000,
     b"\x9f" * 1_000,
     b"\x81" + b"\xc1" * 10_000 + b"\x00", b"\x81" * (DEPTH_MAX + 1) + b"\x00",
     b"\x9f" + b"\x00" * BYTES_MAX + b"\xff"],
)  # fmt: skip
def test_what_is_cut_trailing_deep_bare_doubled_or_too_much_is_not_taken_for_it(data):
    assert as_json(data) is None


@settings(max_examples=examples(500))
@given(st.binary(max_size=300).map(lambda data: b"\x82" + data) | st.binary(max_size=300))
def test_no_bytes_make_it_fail(data):
    result = as_json(data)
    assert result is None or isinstance(json.loads(result), dict | list)


def encoded(value: object) -> bytes:
    def head(kind: int, number: int) -> bytes:
        return bytes([kind << 5 | 27]) + struct.pack(">Q", number)

    if isinstance(value, bool) or value is None:
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(encoded, value))
    return head(5, len(value)) + b"".join(encoded(key) + encoded(item) for key, item in value.items())


_PLAIN = st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
_DOCUMENTS = st.recursive(
    _PLAIN | st.text(), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


@settings(max_examples=examples(200))
@given(st.lists(_DOCUMENTS, min_size=1, max_size=4))
def test_what_was_written_comes_back(document):
    assert json.loads(as_json(encoded(document))) == document
