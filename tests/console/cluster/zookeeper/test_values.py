"""A value in the form a person can read."""

import pytest

from console.cluster.zookeeper.values import HEX_BYTES_MAX, TEXT_LENGTH_MAX, hex_lines, show_value


def test_json_is_shown_with_its_lines():
    shown = show_value("/controller", b'{"brokerid":1}')
    assert (shown.form, shown.forms) == ("json", ("json", "text", "hex"))
    assert shown.text == '{\n  "brokerid": 1\n}'
    assert shown.decoded == {"brokerid": 1}


def test_a_number_is_text():
    assert show_value("/controller_epoch", b"3").forms == ("text", "hex")


@pytest.mark.parametrize("value", [b"\xff\xfe", b"ab\x00", b"\x1b[2J"])
def test_bytes_that_are_no_text_are_shown_as_hex(value):
    assert show_value("/x", value).forms == ("hex",)


def test_the_form_that_is_asked_for_is_given_where_it_can_be():
    assert show_value("/x", b'{"a":1}', "text").text == '{"a":1}'
    assert show_value("/x", b'{"a":1}', "hex").form == "hex"
    assert show_value("/x", b"\xff", "json").form == "hex"


def test_hex_has_offset_bytes_and_what_is_readable():
    assert hex_lines(b"0123456789abcdef\n").splitlines() == [
        "00000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef",
        "00000010  0a                                               .",
    ]


def test_a_long_value_is_cut_and_says_so():
    assert len(show_value("/x", b"a" * (TEXT_LENGTH_MAX + 1)).text) == TEXT_LENGTH_MAX
    assert show_value("/x", b"a" * (TEXT_LENGTH_MAX + 1)).is_cut
    assert show_value("/x", b"\xff" * (HEX_BYTES_MAX + 1)).is_cut
    assert not show_value("/x", b"a").is_cut


def test_a_secret_has_no_form_at_all():
    shown = show_value("/delegation_token/tokens/t", b'{"hmac":"x"}', "hex")
    assert (shown.text, shown.forms) == ("", ())
    assert shown.masked


def test_hex_of_a_value_with_a_secret_is_made_after_it_was_taken_out():
    shown = show_value("/config/brokers/1", b'{"config":{"ssl.key.password":"hunter2"}}', "hex")
    assert bytes.fromhex(shown.text[10:57].replace(" ", ""))
    assert b"hunter2".hex(" ") not in shown.text


def test_half_of_a_character_in_json_can_be_sent():
    shown = show_value("/config/users/alice", rb'{"config": {"x": "\ud800", "\udc00": "y"}, "a": "\ud800"}', "json")
    assert "\ufffd" in shown.text.encode().decode()
