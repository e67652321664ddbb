"""JSON of others: half of a character, which no page and no database takes, is replaced; all else stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kit.common.foreign_json import parse_foreign_json

#: With halves of characters, which `st.text()` leaves out.
ANY_TEXT = st.text(st.characters(exclude_categories=()))
JSON = st.recursive(
    st.none() | st.booleans() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'"\ud800"', "\ufffd"),
        (r'"\uDFFFx\uD83D"', "\ufffdx\ufffd"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'"\ude00\ud83d"', "\ufffd\ufffd"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\\\ud800"', "\\\ufffd"),
    ],
)
def test_half_of_a_character_is_replaced_and_a_whole_one_stays(written, read):
    assert parse_foreign_json(written) == read
    assert parse_foreign_json(written.encode()) == read


def test_names_are_replaced_as_values_are():
    assert parse_foreign_json(rb'{"a\udc00": [{"\ud800": "\ud800"}]}') == {"a\ufffd": [{"\ufffd": "\ufffd"}]}


def test_bytes_that_are_no_utf_8_are_replaced_and_utf_16_is_read():
    assert parse_foreign_json(b'"\xed\xa0\x80"') == "\ufffd" * 3
    assert parse_foreign_json('{"a": "ä"}'.encode("utf-16")) == {"a": "ä"}


@pytest.mark.parametrize("body", [b"\xff", b"", b"{", "\\ud800"])
def test_what_is_no_json_is_refused(body):
    with pytest.raises(ValueError):
        parse_foreign_json(body)


@given(JSON)
def test_whatever_is_read_can_be_sent(document):
    read = parse_foreign_json(json.dumps(document))
    json.dumps(read, ensure_ascii=False).encode()


@given(st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_has_whole_characters_only_is_read_as_it_is(document):
    for is_ascii in (True, False):
        assert parse_foreign_json(json.dumps(document, ensure_ascii=is_ascii)) == document
