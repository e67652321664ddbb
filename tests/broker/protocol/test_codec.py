"""The rules of the wire format, each on a message made for it."""

import inspect
import struct
from struct import pack
from uuid import UUID

import pytest

from broker.common.errors import ProtocolError
from broker.common.limits import ENTRIES_DECODED_IN_A_TURN, TAGGED_FIELDS_MAX
from broker.protocol import codec
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, decoder_of, encode, stepwise_decoder_of
from broker.protocol.primitives import read_uvarint, uvarint
from broker.protocol.schema import (
    Message,
    Struct,
    array,
    boolean,
    bytes_,
    float64,
    int8,
    int16,
    int32,
    int64,
    records,
    string,
    uint16,
    uuid,
    wire,
)

#: Versions 0 and 1 of the messages below: 0 is not flexible, 1 is.
CLASSIC, FLEXIBLE = 0, 1


class Inner(Struct):
    number: int = wire(int32, default=-1)
    label: str | None = wire(string, nullable=True, default=None)


class Everything(Message, api=ApiKey.VOTE, versions=(0, 1), flexible_from=1):
    a: int = wire(int8)
    b: int = wire(int16)
    c: int = wire(int32)
    d: int = wire(int64)
    e: int = wire(uint16)
    f: float = wire(float64)
    g: bool = wire(boolean)
    h: UUID = wire(uuid)
    i: str = wire(string)
    j: bytes = wire(bytes_)
    k: list[int] = wire(array(int64))
    m: list[bool] = wire(array(boolean))
    n: list[UUID] = wire(array(uuid))
    o: list[bytes] = wire(array(bytes_))
    p: list[str] | None = wire(array(string), nullable=True)
    q: Inner = wire(Inner)
    r: Inner | None = wire(Inner, nullable=True, default=None)


class Tagged(Message, api=ApiKey.VOTE, versions=(0, 1), flexible_from=0):
    second: str = wire(string, tag=5)
    first: int = wire(int32, tag=2, default=-1)
    third: Inner = wire(Inner, tag=300)
    absent: Inner | None = wire(Inner, tag=301, default=None)
    late: int = wire(int8, tag=302, since=1)


class Evolving(Message, api=ApiKey.VOTE, versions=(0, 2), flexible_from=None):
    gone: int = wire(int32, until=0)
    new: int = wire(int32, since=2)
    hint: int = wire(int32, since=2, ignorable=True)


class Payload(Message, api=ApiKey.VOTE, versions=(0, 1), flexible_from=1):
    before: int = wire(int32)
    records: bytes | None = wire(records, nullable=True)
    after: int = wire(int32)


FULL = Everything(
    a=-128, b=-2, c=3, d=-4, e=0xFFFF, f=0.5, g=True, h=UUID(int=7), i="é", j=b"\1\2", k=list(range(20)),
    m=[True, False], n=[UUID(int=9)], o=[b"", b"x"], p=["", "y"], q=Inner(number=1, label="z"), r=Inner(number=2),
)  # fmt: skip


@pytest.mark.parametrize("version", [CLASSIC, FLEXIBLE])
def test_every_type_survives(version):
    assert decode(Everything, encode(FULL, version), version) == FULL


def test_older_versions_have_the_classic_layout():
    inner_q = pack(">ih", 1, 1) + b"z"
    inner_r = b"\x01" + pack(">ih", 2, -1)
    assert encode(FULL, CLASSIC) == b"".join((
        pack(">bhiqHd?", -128, -2, 3, -4, 0xFFFF, 0.5, True), bytes(15) + b"\7",
        pack(">h", 2) + "é".encode(), pack(">i", 2) + b"\1\2",
        pack(">i20q", 20, *range(20)), pack(">i??", 2, True, False),
        pack(">i", 1) + bytes(15) + b"\x09", pack(">ii", 2, 0) + pack(">i", 1) + b"x", pack(">ihh", 2, 0, 1) + b"y",
        inner_q, inner_r,
    ))  # fmt: skip


def test_flexible_versions_have_the_flexible_layout():
    inner_q = pack(">i", 1) + b"\2z\0"
    inner_r = b"\x01" + pack(">i", 2) + b"\0\0"
    assert encode(FULL, FLEXIBLE) == b"".join((
        pack(">bhiqHd?", -128, -2, 3, -4, 0xFFFF, 0.5, True), bytes(15) + b"\7",
        b"\3" + "é".encode(), b"\3\1\2", b"\x15" + pack(">20q", *range(20)), b"\3\1\0",
        b"\2" + bytes(15) + b"\x09", b"\3\1\2x", b"\3\1\2y",
        inner_q, inner_r, b"\0",
    ))  # fmt: skip


def test_null_struct_is_one_byte_of_minus_one():
    present = encode(Everything(r=Inner()), FLEXIBLE)
    absent = encode(Everything(r=None), FLEXIBLE)
    assert absent.endswith(b"\xff\0")
    assert len(present) - len(absent) == len(pack(">i", -1) + b"\0\0")
    assert decode(Everything, absent, FLEXIBLE).r is None


def test_tagged_fields_are_written_in_ascending_order_without_defaults():
    assert encode(Tagged(), 0) == b"\0"
    body = encode(Tagged(second="x", first=7), 0)
    assert body == b"\2" + b"\2\4" + pack(">i", 7) + b"\5\2" + b"\2x"
    assert decode(Tagged, body, 0) == Tagged(second="x", first=7)


def test_tag_above_127_takes_two_bytes():
    body = encode(Tagged(third=Inner(number=3)), 0)
    assert body == b"\1" + b"\xac\2" + b"\6" + pack(">i", 3) + b"\0\0"
    assert decode(Tagged, body, 0).third.number == 3


def test_tagged_struct_that_is_absent_is_none_only_where_declared():
    decoded = decode(Tagged, b"\0", 0)
    assert decoded.third == Inner()
    assert decoded.absent is None


@pytest.mark.parametrize("tag", [0, 3, 302, 5000])
def test_unknown_tagged_field_is_skipped(tag):
    unknown = uvarint(tag) + b"\3abc"
    assert decode(Tagged, b"\1" + unknown, 0) == Tagged()
    assert decode(Tagged, b"\2" + b"\2\4" + pack(">i", 9) + unknown, 0) == Tagged(first=9)


@pytest.mark.parametrize("size", [3, 5])
def test_tagged_field_that_does_not_fill_its_size_is_refused(size):
    with pytest.raises(ProtocolError):
        decode(Tagged, b"\1\2" + bytes([size]) + pack(">i", 9) + b"\0" * (size - 4), 0)


def test_field_that_a_version_lacks_is_refused_unless_default_or_ignorable():
    assert encode(Evolving(hint=5), 1) == b""
    with pytest.raises(ProtocolError, match=r"Evolving\.new"):
        encode(Evolving(new=5), 1)
    with pytest.raises(ProtocolError, match=r"Evolving\.gone"):
        encode(Evolving(gone=5), 2)
    assert decode(Evolving, encode(Evolving(gone=5), 0), 0) == Evolving(gone=5)


@pytest.mark.parametrize(
    "message",
    [
        Everything(a=128),
        Everything(e=-1),
        Everything(i=None),
        Everything(k=None),
        Everything(i="x" * 32768),
        Everything(h="not a uuid"),
        Everything(q=None),
        Everything(i="\ud800"),
    ],
)
def test_value_that_does_not_fit_its_type_is_refused(message):
    with pytest.raises(ProtocolError, match="Everything version 0 cannot express"):
        encode(message, CLASSIC)


def test_byte_fields_are_slices_of_the_buffer():
    frame = bytearray(encode(Payload(records=b"r" * 100), FLEXIBLE))
    decoded = decode(Payload, frame, FLEXIBLE)
    assert isinstance(decoded.records, memoryview)
    frame[10:12] = b"RR"
    assert b"RR" in bytes(decoded.records)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_byte_fields_accept_any_bytes_like(kind):
    assert encode(Payload(records=kind(b"abc")), CLASSIC) == encode(Payload(records=b"abc"), CLASSIC)


@pytest.mark.parametrize(
    ("version", "length"),
    [
        (CLASSIC, pack(">i", -2)),
        (CLASSIC, pack(">i", 1 << 30)),
        (FLEXIBLE, b"\xff" * 9),
        (FLEXIBLE, b"\xff\xff\xff\xff\x0f"),
    ],
)
def test_impossible_payload_length_is_refused(version, length):
    with pytest.raises(ProtocolError):
        decode(Payload, pack(">i", 1) + length + pack(">i", 2), version)


class Lists(Message, api=ApiKey.VOTE, versions=(0, 1), flexible_from=1):
    numbers: list[int] = wire(array(int32))
    structs: list[Inner] = wire(array(Inner))
    names: list[str] | None = wire(array(string), nullable=True)


@pytest.mark.parametrize("count", [-1, -(1 << 31), 5, 17, 1 << 20, (1 << 31) - 1])
def test_count_that_the_body_cannot_hold_is_refused(count):
    with pytest.raises(ProtocolError):
        decode(Lists, pack(">i", count) + bytes(16), CLASSIC)
    with pytest.raises(ProtocolError):
        decode(Lists, pack(">ii", 0, count) + bytes(16), CLASSIC)
    with pytest.raises(ProtocolError):
        decode(Lists, b"\1" + uvarint((count + 1) & 0xFFFFFFFF) + bytes(16), FLEXIBLE)


@pytest.mark.parametrize(
    "body", [pack(">i", 17) + bytes(67), pack(">ii", 0, 3) + bytes(17), pack(">iii", 0, 0, 2) + b"123"]
)
def test_count_is_refused_before_anything_is_read_by_it(body):
    with pytest.raises(ProtocolError, match="announces"):
        decode(Lists, body, CLASSIC)


class Nested(Message, api=ApiKey.VOTE, versions=(0, 1), flexible_from=1):
    lists: list[Inner] = wire(array(Inner))
    numbers: list[int] = wire(array(int32))
    names: list[str] = wire(array(string))


@pytest.mark.parametrize("version", [CLASSIC, FLEXIBLE])
@pytest.mark.parametrize("field", ["lists", "numbers", "names"])
def test_elements_of_all_arrays_together_are_counted_before_they_are_read(version, field):
    fitting = {"lists": [Inner()] * 2, "numbers": [0] * 3, "names": ["n"] * 4}
    decoder = decoder_of(Nested, version, entries_max=9)
    assert decoder(encode(Nested(**fitting), version), 0) == Nested(**fitting)
    one_more = fitting | {field: [*fitting[field], fitting[field][0]]}
    with pytest.raises(ProtocolError, match="more than 9 elements"):
        decoder(encode(Nested(**one_more), version), 0)


def test_tagged_fields_count_as_elements():
    body = b"\1\1\1" + b"\5" + b"\0\0" * 5
    assert decoder_of(Nested, FLEXIBLE, entries_max=5)(body, 0) == Nested()
    with pytest.raises(ProtocolError, match="more than 4 elements"):
        decoder_of(Nested, FLEXIBLE, entries_max=4)(body, 0)


@pytest.mark.parametrize("message", [Nested, Tagged])
def test_a_section_of_more_tagged_fields_than_any_message_has_is_refused(message):
    """Each takes half a microsecond: a megabyte of them would keep everybody waiting for a quarter of a second."""
    start = encode(Nested(), FLEXIBLE)[:-1] if message is Nested else b""
    unknown = uvarint(60) + b"\0"
    assert decode(message, start + uvarint(TAGGED_FIELDS_MAX) + unknown * TAGGED_FIELDS_MAX, FLEXIBLE) == message()
    count = TAGGED_FIELDS_MAX + 1
    with pytest.raises(ProtocolError, match="announces 128 tagged fields"):
        decode(message, start + uvarint(count) + unknown * count, FLEXIBLE)


def test_only_minus_one_stands_for_null():
    assert decode(Lists, pack(">iii", 0, 0, -1), CLASSIC).names is None
    with pytest.raises(ProtocolError, match="names has length -2"):
        decode(Lists, pack(">iii", 0, 0, -2), CLASSIC)


def test_null_where_null_is_not_allowed_is_refused():
    with pytest.raises(ProtocolError, match="numbers is null"):
        decode(Lists, b"\0\1\1\0", FLEXIBLE)
    with pytest.raises(ProtocolError, match="numbers is null"):
        decode(Lists, b"\x80\0\1\1\0", FLEXIBLE)


def test_text_that_is_not_utf_8_is_refused():
    with pytest.raises(ProtocolError, match="utf-8"):
        decode(Tagged, b"\1\5\2\2\xff", 0)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 16383, 16384, 2**21, 2**31, 2**32 - 1])
def test_varint_survives_the_round_trip(value):
    assert read_uvarint(uvarint(value) + b"rest", 0) == (value, len(uvarint(value)))


@pytest.mark.parametrize("raw", [b"\x80\x80\x80\x80\x80\0", b"\xff\xff\xff\xff\x1f", b"\xff" * 20])
def test_varint_of_more_than_32_bits_is_refused(raw):
    with pytest.raises(ProtocolError):
        read_uvarint(raw, 0)


def test_generated_functions_are_made_once_and_show_their_source():
    encode(Payload(), CLASSIC)
    first = codec._encoders[Payload, CLASSIC]
    encode(Payload(), CLASSIC)
    assert codec._encoders[Payload, CLASSIC] is first
    assert "o.records" in inspect.getsource(first)


def in_steps(steps):
    """In how many steps, and what came of them."""
    for count in range(1, 1_000):
        try:
            next(steps)
        except StopIteration as end:
            return count, end.value
    raise AssertionError("it does not end")


@pytest.mark.parametrize("version", [CLASSIC, FLEXIBLE])
@pytest.mark.parametrize("field", ["lists", "names"])
def test_many_elements_are_decoded_in_steps(version, field):
    many = 3 * ENTRIES_DECODED_IN_A_TURN + 1
    sent = Nested(**{field: [Inner() if field == "lists" else "n"] * many})
    decode_in_steps = stepwise_decoder_of(Nested, version)
    assert in_steps(decode_in_steps(encode(sent, version), 0)) == (4, sent)
    assert stepwise_decoder_of(Nested, version) is decode_in_steps


@pytest.mark.parametrize("version", [CLASSIC, FLEXIBLE])
def test_what_is_malformed_is_refused_at_its_step(version):
    body = encode(Nested(names=["n"] * 2 * ENTRIES_DECODED_IN_A_TURN), version)
    steps = stepwise_decoder_of(Nested, version, entries_max=2 * ENTRIES_DECODED_IN_A_TURN)(body[:-1], 0)
    with pytest.raises((ProtocolError, IndexError, struct.error)):
        in_steps(steps)
    with pytest.raises(ProtocolError, match="more than 999 elements"):
        next(stepwise_decoder_of(Nested, version, entries_max=999)(body, 0))
