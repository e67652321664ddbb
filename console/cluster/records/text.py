"""Bytes as a person reads them: text, JSON or hex. Pure.

Nothing is run, and nothing is marked as safe: the templates escape it.
"""

import codecs
import re
import zlib
from dataclasses import dataclass, replace

from console.cluster.records import cbor, message_pack
from console.cluster.records.json_layout import JsonLine, is_document, laid_out, tree
from console.cluster.records.protobuf_wire import wire_text
from console.cluster.records.xml_layout import laid_out_xml

#: Characters of a key or value shown in a row, and of one opened.
PREVIEW_LENGTH = 160
TEXT_LENGTH_MAX = 64 * 1024
#: Of a record asked for whole: beyond it a browser is busy for seconds, and the bytes can be downloaded.
WHOLE_LENGTH_MAX = 4 * 1024 * 1024
#: What is longer is neither parsed nor unpacked: a parsed document holds some thirty times its bytes.
WORKED_BYTES_MAX = 2 * 1024 * 1024
#: Of a key or value a column looks into.
DOCUMENT_BYTES_MAX = 256 * 1024
#: And where little is shown, in rows, not so much more than that.
WORKED_PER_SHOWN = 32
TREE_LINES_MAX = 20_000
#: Control characters up to one in so many are escaped; more are no text.
LETTERS_PER_CONTROL = 8
_HEX_BYTES_PER_LINE = 16
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_GZIP = b"\x1f\x8b\x08"
#: Confluent's wire format: a zero, the id of the schema in four bytes, then the message.
_FRAME_BYTES = 5


class TextBudget:
    """Bytes that may still be unpacked and parsed for the rows of one page: 300 bytes of gzip are 256 KB of JSON."""

    def __init__(self, left: int):
        self.left = left

    def take(self, count: int) -> None:
        self.left = max(0, self.left - count)


@dataclass(frozen=True, slots=True)
class Text:
    """`kind` is null, empty, string, json, xml, protobuf or hex; `is_cut`: there is more; `note`: what it is.

    `tree` are the lines of JSON that was asked for as a tree, if it can be shown as one.
    """

    kind: str
    text: str
    size_bytes: int
    is_cut: bool = False
    note: str = ""
    tree: tuple[JsonLine, ...] = ()
    #: Of the schema it was decoded by, or should have been; 0: of none.
    schema_id: int = 0

    @property
    def preview(self) -> str:
        """The beginning, on one line."""
        line = " ".join(self.text[: 2 * PREVIEW_LENGTH].split())
        return line if len(line) <= PREVIEW_LENGTH else f"{line[:PREVIEW_LENGTH]}…"

    @property
    def is_longer_than_preview(self) -> bool:
        return self.is_cut or self.preview != self.text


def text_of(
    data: bytes | None, shown_as: str, length_max: int = TEXT_LENGTH_MAX, budget: TextBudget | None = None
) -> Text:
    """Return `data` as `shown_as` says (`SHOWN_AS` of query); asked for as JSON, other text is a string.

    Where the page's `budget` is used up, nothing is parsed, and unpacked only what is shown.
    """
    if data is None:
        return Text("null", "null", 0)
    if not data:
        return Text("empty", "empty", 0)
    if shown_as == "hex":
        return _hex(data, length_max)
    if shown_as == "string":
        return _string(data, length_max)
    worked_max = _worked_max(length_max)
    affordable = worked_max if budget is None else min(worked_max, budget.left)
    note, inner = _unwrapped(data, max(length_max, affordable))
    if budget is not None:
        budget.take(min(len(inner), worked_max))
    if affordable < len(inner) and affordable < worked_max:
        text = replace(_plain(inner, "string", length_max), note="not parsed: the texts of this page are too large")
    else:
        text = (
            (_wire(inner, length_max) if shown_as == "protobuf" else None)
            or _json(inner, shown_as, length_max)
            or (_xml(inner, length_max) if shown_as == "auto" else None)
            or _plain(inner, shown_as, length_max)
        )
    if note and text.kind == "hex":
        text = _hex(data, length_max)
    return replace(text, size_bytes=len(data), note="; ".join(name for name in (note, text.note) if name))


def document_text(data: bytes | None) -> str:
    """Return the part of `data` that may be a JSON document, unpacked; empty if none, or if it is too long for
    a row.
    """
    if not data:
        return ""
    _, inner = _unwrapped(data, DOCUMENT_BYTES_MAX)
    if len(inner) > DOCUMENT_BYTES_MAX:
        return ""
    if inner[:64].lstrip()[:1] in (b"{", b"["):
        return inner.decode(errors="replace")
    return "" if _is_readable(inner) else _packed(inner)[1]


def plain_bytes(data: bytes) -> bytes:
    """Return `data` without gzip and a schema's frame, MessagePack and CBOR as JSON; `data` itself if it is neither."""
    _, inner = _unwrapped(data, WORKED_BYTES_MAX)
    if len(inner) > WORKED_BYTES_MAX:
        return data  # perhaps not all of it was unpacked
    if inner[:64].lstrip()[:1] in (b"{", b"[") or _is_readable(inner):
        return inner
    packed = _packed(inner)[1]
    return packed.encode(errors="replace") if packed else data


def _unwrapped(data: bytes, unpacked_max: int) -> tuple[str, bytes]:
    """Return how `data` is compressed, and its content: itself if it is not. One byte more than the bound says that not
    all of it was unpacked.
    """
    if data.startswith(_GZIP):
        unpacking = zlib.decompressobj(wbits=31)
        try:
            inner = unpacking.decompress(data, unpacked_max + 1)
        except zlib.error:
            return "", data
        # What follows a first member would be left out.
        return ("gzip, unpacked", inner) if inner and not unpacking.unused_data else ("", data)
    schema_id = int.from_bytes(data[1:_FRAME_BYTES])
    # Eight bytes are Java's serialised long, and no schema has the id 0.
    if data[0] == 0 and schema_id and len(data) > _FRAME_BYTES and len(data) != 8:
        return f"Confluent wire format, schema id {schema_id}", data[_FRAME_BYTES:]
    return "", data


def _worked_max(length_max: int) -> int:
    return min(WORKED_BYTES_MAX, WORKED_PER_SHOWN * length_max)


def _json(data: bytes, shown_as: str, length_max: int) -> Text | None:
    """Lay out objects and arrays over several lines; None for other text, or too long to be parsed."""
    if len(data) > _worked_max(length_max) or data[:64].lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        written = data.decode()
    except UnicodeDecodeError:
        return None
    if not is_document(written):
        return None
    text, is_cut = laid_out(written, length_max)
    if shown_as != "tree":
        return Text("json", text, len(data), is_cut)
    lines = tree(written, TREE_LINES_MAX)
    if lines:
        return Text("json", text, len(data), is_cut, tree=lines)
    return Text("json", text, len(data), is_cut, "too deep or too much for a tree; no tree is shown")


def _xml(data: bytes, length_max: int) -> Text | None:
    if len(data) > _worked_max(length_max) or data[:64].removeprefix(codecs.BOM_UTF8).lstrip()[:1] != b"<":
        return None
    laid_out = laid_out_xml(data, length_max)
    return laid_out and Text("xml", laid_out[0], len(data), laid_out[1], "XML")


def _wire(data: bytes, length_max: int) -> Text | None:
    """Decode as Protobuf without schema; behind a registry's frame a zero byte for the first message type is passed
    over.
    """
    text = None
    if len(data) <= _worked_max(length_max):
        text = wire_text(data, length_max) or (wire_text(data[1:], length_max) if data[:1] == b"\0" else None)
    return text and Text("protobuf", text[0], len(data), text[1], "Protobuf fields by number, types guessed")


def _plain(data: bytes, shown_as: str, length_max: int) -> Text:
    if shown_as == "protobuf":
        return replace(_hex(data, length_max), note="no Protobuf message")
    if shown_as == "auto" and not _is_readable(data[:length_max]):
        name, packed = _packed(data) if len(data) <= _worked_max(length_max) else ("", "")
        unpacked = packed and _json(packed.encode(errors="replace"), "json", length_max)
        return replace(unpacked, note=name) if unpacked else _hex(data, length_max)
    return _string(data, length_max)


def _packed(data: bytes) -> tuple[str, str]:
    """Return the format of `data` and its JSON; both empty if it is none that is known."""
    for name, as_json in (("MessagePack", message_pack.as_json), ("CBOR", cbor.as_json)):
        if value := as_json(data):
            return name, value
    return "", ""


def _string(data: bytes, length_max: int) -> Text:
    text, count = CONTROL.subn(_escaped, data[:length_max].decode(errors="replace"))
    note = f"{count} control character{'s' * (count > 1)}, as \\xNN" if count else ""
    return Text("string", text, len(data), len(data) > length_max, note)


def _escaped(control: re.Match[str]) -> str:
    return f"\\x{ord(control[0]):02x}"


def _is_readable(data: bytes) -> bool:
    """Return whether data is UTF-8 with hardly a control character but white space. The last character may be cut in
    two.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3 or error.reason != "unexpected end of data":
            return False
        text = data[: error.start].decode()
    return len(CONTROL.findall(text)) * LETTERS_PER_CONTROL <= len(text)


def _hex(data: bytes, length_max: int) -> Text:
    """Return a hex dump, sixteen bytes on a line: offset, bytes, and ASCII."""
    shown = data[: length_max // 4]
    lines = []
    for at in range(0, len(shown), _HEX_BYTES_PER_LINE):
        part = shown[at : at + _HEX_BYTES_PER_LINE]
        letters = "".join(chr(number) if 32 <= number < 127 else "." for number in part)
        lines.append(f"{at:08x}  {part.hex(' '):<{3 * _HEX_BYTES_PER_LINE - 1}}  {letters}")
    return Text("hex", "\n".join(lines), len(data), len(data) > len(shown))
