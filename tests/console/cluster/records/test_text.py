"""Bytes as a person reads them, whatever they are."""

import gzip

import pytest

from console.cluster.records.text import PREVIEW_LENGTH, text_of


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
        (b"\xff\x00A", "string", "string", "\ufffd\\x00A"),
        (b'{"a":1}', "tree", "json", '{\n  "a": 1\n}'),
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


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b'{"a":1e400}', '{\n  "a": 1e400\n}'),
        (b'{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'),
        (b"[0.1000000000000000055, 1.0]", "[\n  0.1000000000000000055,\n  1.0\n]"),
        (b'{"\\u0041 \\/":{}, "b" : [ ]}', '{\n  "\\u0041 \\/": {},\n  "b": []\n}'),
        (b"[" + b"9" * 5_000 + b"]", "[\n  " + "9" * 5_000 + "\n]"),
        (b'["a, b: {[", "\\""]', '[\n  "a, b: {[",\n  "\\""\n]'),
    ],
)
def test_json_is_laid_out_and_its_letters_are_those_that_were_written(written, shown):
    for shown_as in ("auto", "json"):
        text = text_of(written, shown_as)
        assert (text.kind, text.text) == ("json", shown)
    assert text_of(written, "string").text == written.decode()


def test_what_only_python_takes_for_json_is_a_string():
    assert text_of(b'{"a": NaN}', "json").kind == "string"


def test_json_longer_than_what_is_shown_is_laid_out_as_far_as_it_is_shown():
    text = text_of(b"[" + b",".join(b"%d" % index for index in range(5_000)) + b"]", "auto", length_max=1_000)
    assert text.kind == "json"
    assert text.is_cut
    assert text.text.startswith("[\n  0,\n  1,\n")
    assert 900 < len(text.text) <= 1_000


def test_a_tree_folds_what_an_object_or_array_holds():
    lines = text_of(b'{"a":{"b":[1,{}]},"c":2}', "tree").tree
    assert [(line.text, line.opens, line.closes) for line in lines] == [
        ("{", True, False),
        ('"a": {', True, False),
        ('"b": [', True, False),
        ("1,", False, False),
        ("{}", False, False),
        ("]", False, True),
        ("},", False, True),
        ('"c": 2', False, False),
        ("}", False, True),
    ]
    assert sum(line.opens for line in lines) == sum(line.closes for line in lines)


def test_what_nests_too_deep_or_holds_too_much_for_a_tree_is_laid_out_and_says_why(monkeypatch):
    monkeypatch.setattr("console.cluster.records.text.TREE_LINES_MAX", 5)
    for written in (b"[1,2,3,4,5,6]", b"[" * 200 + b"]" * 200):
        text = text_of(written, "tree")
        assert (text.kind, text.tree) == ("json", ())
        assert "no tree" in text.note


@pytest.mark.parametrize(
    "data",
    [b"hello\x00world", "a \U0001f469\u200d\U0001f4bb at work \ufeff".encode(), b"\x1b[1mbold\x1b[0m text in it"],
)
def test_text_with_a_control_character_or_a_joined_emoji_is_text(data):
    assert text_of(data, "auto").kind == "string"


def test_a_control_character_is_escaped_and_told_of():
    text = text_of(b"hello\x00world", "auto")
    assert text.text == "hello\\x00world"
    assert "1 control character" in text.note


@pytest.mark.parametrize("data", [(42).to_bytes(8), (7).to_bytes(4), b"\n\x05hello", b"\x00\x00"])
def test_numbers_and_short_messages_are_still_bytes(data):
    assert text_of(data, "auto").kind == "hex"


def test_the_frame_of_a_schema_registry_is_named_and_what_is_readable_behind_it_shown():
    text = text_of(b'\x00\x00\x00\x00\x2a{"a":1}', "auto")
    assert (text.kind, text.text, text.note) == ("json", '{\n  "a": 1\n}', "Confluent wire format, schema id 42")
    avro = text_of(b"\x00\x00\x00\x00\x2a\x02\x06\xff\x01\x07", "auto")
    assert (avro.kind, avro.note) == ("hex", "Confluent wire format, schema id 42")
    assert avro.text.startswith("00000000  00 00 00 00 2a 02")


def test_a_gzipped_value_is_named_and_unpacked():
    packed = gzip.compress(b'{"a":1}')
    text = text_of(packed, "auto")
    assert (text.kind, text.text, text.note, text.size_bytes) == (
        "json",
        '{\n  "a": 1\n}',
        "gzip, unpacked",
        len(packed),
    )
    assert text_of(packed, "hex").text.startswith("00000000  1f 8b 08")


def test_what_a_small_value_unpacks_to_is_bounded():
    bomb = gzip.compress(b"x" * 50_000_000)
    text = text_of(bomb, "auto", length_max=1_000)
    assert (len(text.text), text.is_cut) == (1_000, True)


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08", b"\x1f\x8b\x08\x00garbage-garbage"])
def test_what_only_begins_like_gzip_is_bytes(data):
    assert text_of(data, "auto").kind == "hex"
