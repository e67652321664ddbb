"""Bytes as a person reads them: text, JSON or hex. Pure.

Nothing is run, and nothing is marked as safe: the templates escape it.
"""

import json
from dataclasses import dataclass

#: Characters of a key or value shown in a row, and of one opened.
PREVIEW_LENGTH = 160
TEXT_LENGTH_MAX = 64 * 1024
_HEX_BYTES_PER_LINE = 16


@dataclass(frozen=True, slots=True)
class Text:
    """`kind` is null, empty, string, json or hex; `is_cut` says that there is more than is shown."""

    kind: str
    text: str
    size_bytes: int
    is_cut: bool = False

    @property
    def preview(self) -> str:
        """The beginning, on one line."""
        line = " ".join(self.text[: 2 * PREVIEW_LENGTH].split())
        return line if len(line) <= PREVIEW_LENGTH else f"{line[:PREVIEW_LENGTH]}…"

    @property
    def is_longer_than_preview(self) -> bool:
        return self.is_cut or self.preview != self.text


def text_of(data: bytes | None, shown_as: str, length_max: int = TEXT_LENGTH_MAX) -> Text:
    """`data` as `shown_as` says (auto, string, json, hex); asked for as JSON, what is no JSON is a string."""
    if data is None:
        return Text("null", "null", 0)
    if not data:
        return Text("empty", "empty", 0)
    if shown_as == "hex":
        return _hex(data, length_max)
    if shown_as in ("auto", "json") and data[:64].lstrip()[:1] in (b"{", b"[") and (found := _json(data, length_max)):
        return found
    if shown_as == "auto" and not _is_readable(data[:length_max]):
        return _hex(data, length_max)
    return Text("string", data[:length_max].decode(errors="replace"), len(data), len(data) > length_max)


def _json(data: bytes, length_max: int) -> Text | None:
    """Objects and arrays over several lines; a number or word alone stays a string. None for what is no JSON."""
    if len(data) > length_max:
        return None
    try:
        value = json.loads(data)
        text = json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict | list):
        return None
    return Text("json", text[:length_max], len(data), len(text) > length_max)


def _is_readable(data: bytes) -> bool:
    """UTF-8 without control characters but white space. The last character may be cut in two."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3 or error.reason != "unexpected end of data":
            return False
        text = data[: error.start].decode()
    return all(letter.isprintable() or letter in "\t\r\n" for letter in text)


def _hex(data: bytes, length_max: int) -> Text:
    """Sixteen bytes on a line: where they are, what they are, and what they would be as ASCII."""
    shown = data[: length_max // 4]
    lines = []
    for at in range(0, len(shown), _HEX_BYTES_PER_LINE):
        part = shown[at : at + _HEX_BYTES_PER_LINE]
        letters = "".join(chr(each) if 32 <= each < 127 else "." for each in part)
        lines.append(f"{at:08x}  {part.hex(' '):<{3 * _HEX_BYTES_PER_LINE - 1}}  {letters}")
    return Text("hex", "\n".join(lines), len(data), len(data) > len(shown))
