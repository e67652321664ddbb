"""A log line is one line of harmless text, however hostile what it tells of."""

import pytest

from broker.common.limits import LOGGED_TEXT_LENGTH_MAX
from broker.common.logs import _one_line


def told(text: str) -> str:
    return _one_line(None, "info", {"event": "e", "group_id": text})["group_id"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb", "a\\nb"),
        ("a\r\nlevel=error", "a\\r\\nlevel=error"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("\x00\t", "\\x00\\t"),
        ("é 漢 😀", "é 漢 😀"),
        ("no break\u00a0space", "no break\u00a0space"),
    ],
)
def test_what_would_break_a_line_or_speak_to_a_terminal_is_escaped(text, line):
    assert told(text) == line


def test_names_of_peers_do_not_fill_the_log():
    assert told("g" * LOGGED_TEXT_LENGTH_MAX) == "g" * LOGGED_TEXT_LENGTH_MAX
    assert told("g" * 30_000) == "g" * LOGGED_TEXT_LENGTH_MAX + "… (30000 letters)"


def test_a_traceback_stays_whole_on_one_line():
    event = _one_line(None, "error", {"event": "e", "exception": "line\n" * 2_000, "count": 7})
    assert event == {"event": "e", "exception": "line\\n" * 2_000, "count": 7}
