"""Bytes as a person reads them, whatever they are."""

import pytest

from console.records.text import PREVIEW_LENGTH, text_of


@pytest.mark.parametrize(
    ("data", "shown_as", "kind", "text"),
    [
        (None, "auto", "null", "null"),
        (b"", "hex", "empty", "empty"),
        (b"plain", "auto", "string", "plain"),
        ("żółć\n".encode(), "auto", "string", "żółć\n"),
        (b'{"b":1,"a":[]}', "auto", "json", '{\n  "b": 1,\n  "a": []\n}'),
        (b' ["x"]', "json", "json", '[\n  "x"\n]'),
        (b"42", "json", "string", "42"),
        (b"{broken", "json", "string", "{broken"),
        (b'{"a":1}', "string", "string", '{"a":1}'),
        (b"\xff\x00A", "string", "string", "\ufffd\x00A"),
    ],
)
def test_a_value_is_shown_as_asked(data, shown_as, kind, text):
    shown = text_of(data, shown_as)
    assert (shown.kind, shown.text) == (kind, text)


def test_bytes_that_are_no_text_are_shown_in_hex_with_their_places():
    shown = text_of(b"\x00\x01AB" * 5, "auto")
    first, second = shown.text.split("\n")
    assert shown.kind == "hex"
    assert first == "00000000  00 01 41 42 00 01 41 42 00 01 41 42 00 01 41 42  ..AB..AB..AB..AB"
    assert second.startswith("00000010  00 01 41 42 ")
    assert second.endswith("  ..AB")


def test_a_long_value_is_cut_and_says_how_long_it_is():
    for shown_as in ("auto", "string", "json", "hex"):
        shown = text_of(b"x" * 10_000, shown_as, length_max=1_000)
        assert shown.is_cut
        assert shown.size_bytes == 10_000
        assert len(shown.text) < 2_000


def test_text_cut_in_the_middle_of_a_letter_still_is_text():
    shown = text_of("ż".encode() * 600, "auto", length_max=1_001)
    assert shown.kind == "string"


def test_json_that_nests_too_deep_is_a_string():
    assert text_of(b"[" * 50_000, "json").kind == "string"


def test_a_preview_is_one_short_line():
    shown = text_of(b'{"a": "' + b"x" * 500 + b'"}', "auto")
    assert "\n" not in shown.preview
    assert len(shown.preview) == PREVIEW_LENGTH + 1
    assert shown.is_longer_than_preview
    assert not text_of(b"short", "auto").is_longer_than_preview
