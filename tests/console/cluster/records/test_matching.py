"""What the page shows of a record is what a search, an expression and the tail's filter match."""

import gzip
import json

import pytest

from console.cluster.records import decoders
from console.cluster.records.decoders import GROUP, RecordDecoder, installed
from console.cluster.records.masking import Masker, MaskPath
from console.cluster.records.matching import matcher
from console.cluster.records.text import text_of
from console.kit.gateway.records.interface import RecordView

#: {"status": "PAID", "amount": 150}
MESSAGE_PACK = b"\x82\xa6status\xa4PAID\xa6amount\xcc\x96"
CBOR = b"\xa2fstatusdPAIDfamount\x18\x96"
COMPACT_JSON = b'{"status":"PAID","amount":150}'
XML = b"<order><status>PAID</status><amount>150</amount></order>"


def record(value: bytes | None, key: bytes | None = None, headers=(), offset: int = 7) -> RecordView:
    return RecordView(0, offset, 0, key, value, headers)


def matches(text: str, searched: str, *records: RecordView) -> list[bool]:
    wanted = matcher("orders", text, searched)
    try:
        return [wanted(record) for record in records]
    finally:
        wanted.close()


@pytest.fixture
def decoder_of_shouts(monkeypatch):
    """An installed decoder: `!` and a word are JSON with the word in capitals."""

    class EntryPoint:
        name = "shout"

        def load(self):
            return lambda topic, part, data: json.dumps({part: data[1:].decode().upper()}) if data[:1] == b"!" else None

    monkeypatch.setattr(decoders, "entry_points", lambda group: [EntryPoint()] if group == GROUP else [])
    installed.cache_clear()
    yield
    installed.cache_clear()


@pytest.mark.parametrize(
    "data", [MESSAGE_PACK, CBOR, COMPACT_JSON, gzip.compress(COMPACT_JSON), XML, gzip.compress(XML)]
)
def test_a_text_is_found_in_every_format_that_the_page_shows(data):
    assert matches("PAID", "any", record(data), record(None, data)) == [True, True]
    assert matches("PAID", "header", record(None, None, (("trace", data),))) == [True]
    assert matches("UNPAID", "any", record(data), record(None, data)) == [False, False]


@pytest.mark.parametrize("data", [MESSAGE_PACK, CBOR, COMPACT_JSON, gzip.compress(COMPACT_JSON), XML])
def test_what_is_copied_from_the_page_is_found_with_the_white_space_of_its_layout(data):
    lines = text_of(data, "auto").text.splitlines()
    assert len(lines) > 2
    for line in lines:
        assert matches(line, "value", record(data)) == [True], line


@pytest.mark.parametrize("data", [MESSAGE_PACK, CBOR, COMPACT_JSON, gzip.compress(COMPACT_JSON)])
def test_an_expression_is_given_what_the_page_shows(data):
    assert matches("value.amount >= 150 && value.status == 'PAID'", "cel", record(data)) == [True]
    assert matches("key.amount > 150", "cel", record(None, data)) == [False]


def test_an_expression_s_size_is_that_of_the_record_s_bytes():
    data = gzip.compress(COMPACT_JSON)
    assert matches(f"size == {len(data)}", "cel", record(data)) == [True]


def test_a_text_is_found_by_what_an_installed_decoder_says_of_it(decoder_of_shouts):
    assert matches("PAID", "value", record(b"!paid")) == [True]
    assert matches('"value": "PAID"', "value", record(b"!paid")) == [True]
    assert matches("value.value == 'PAID'", "cel", record(b"!paid")) == [True]


def test_bytes_are_found_by_the_hexadecimal_digits_that_the_page_shows():
    assert matches("00 ff fe", "value", record(b"\x00\xff\xfe")) == [True]


def test_a_record_that_its_decoder_fails_on_is_counted_and_named(monkeypatch, settings, tmp_path):
    settings.PROTOBUF_FILE = tmp_path / "protobuf.toml"
    settings.PROTOBUF_FILE.write_text("nonsense")
    wanted = matcher("orders", "PAID", "value")
    assert [wanted(record(b"\xff\xfePAID")), wanted(record(b"\xff\xfe", offset=8))] == [True, False]
    assert wanted.note.startswith("2 records could not be decoded, and only the bytes were searched; the first at")
    assert "partition 0 offset 7: not decoded: protobuf.toml" in wanted.note


def test_time_for_decoding_comes_again_with_every_page_and_every_read(decoder_of_shouts):
    now = [0.0]

    def later() -> float:
        now[0] += 3.0
        return now[0]

    decoder = RecordDecoder("orders", now_s=later)
    assert decoder.decode("value", b"!a").text
    assert not decoder.decode("value", b"!a").text
    decoder.renew()
    assert decoder.decode("value", b"!a").text


def test_a_tail_of_masked_records_shows_what_is_not_hidden_for_as_long_as_it_runs(decoder_of_shouts, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(decoders, "SECONDS_PER_PAGE", 0.0)
    masker = Masker("orders", [MaskPath("value.secret", "value", ("secret",))])
    masker._decoder._now_s = lambda: now[0]
    assert masker.masked(record(b"!open")).value == "•••".encode()
    monkeypatch.setattr(decoders, "SECONDS_PER_PAGE", 2.0)
    masker.renew()
    assert masker.masked(record(b"!open")).value == b'{"value": "OPEN"}'
