r"""JSON that another program wrote, as text that can be shown, sent and kept.

JSON may escape half of a character (`\ud800`, RFC 8259, 8.2). Python parses that, and then neither UTF-8 nor a database
takes the text: one record or one answer would end the page of everybody.
"""

import json
import re
from typing import Any

#: An escape is a pair of halves, one half alone (the group), or anything else behind its backslash.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_REPLACEMENT = r"\ufffd"


def parse_foreign_json(text: str | bytes, **hooks: Any) -> Any:
    """Return what `json.loads` makes of `text`, with U+FFFD in place of each half of a character.

    `hooks` are those of `json.loads`. Raises ValueError and RecursionError for what is no JSON.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "replace")
    return json.loads(with_whole_characters(text), **hooks)


def with_whole_characters(text: str) -> str:
    """Return the JSON `text` with `\\ufffd` in place of escapes of half a character; others stay as they are."""
    return _ESCAPE.sub(_whole, text) if "\\ud" in text or "\\uD" in text else text


def _whole(escape: re.Match[str]) -> str:
    return _REPLACEMENT if escape[1] else escape[0]
