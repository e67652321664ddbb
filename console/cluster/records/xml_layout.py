"""XML laid out as a person reads it. Pure.

A document type is refused, and with it every entity there might be: nothing is looked up, and nothing unfolds.
"""

from collections.abc import Sequence
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

DEPTH_MAX = 64
_INDENT = "  "


class _NoDocument(Exception):
    """Too deep, or it declares what it is to be made of."""


class _Enough(Exception):
    """As much is laid out as was asked for."""


def laid_out_xml(data: bytes, length_max: int) -> tuple[str, bool] | None:
    """Format XML up to `length_max` characters, and return whether there is more; None for invalid XML or with a
    document type.
    """
    layout = _Layout(length_max)
    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = layout.start
    parser.EndElementHandler = layout.end
    parser.CharacterDataHandler = layout.text
    parser.CommentHandler = layout.comment
    parser.ProcessingInstructionHandler = layout.instruction
    try:
        parser.Parse(data, True)
    except _Enough:
        return layout.written[:length_max], True
    except (expat.ExpatError, _NoDocument, ValueError, LookupError):
        return None
    return layout.written, False


def _refuse(*_: object) -> None:
    raise _NoDocument


class _Layout:
    """An element of nothing but text stands on one line."""

    def __init__(self, length_max: int):
        self._length_max = length_max
        self._lines: list[str] = []
        self._length = self._depth = 0
        #: A start that may yet be all there is of its element.
        self._begun = ""
        self._text: list[str] = []

    @property
    def written(self) -> str:
        return "\n".join(self._lines)

    def start(self, name: str, attributes: Sequence[str]) -> None:
        self._open()
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        self._begun = f"<{name}" + "".join(f" {key}={quoteattr(value)}" for key, value in pairs)
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise _NoDocument

    def end(self, name: str) -> None:
        if self._begun:
            text = self._taken()
            line = f"{self._begun}>{text}</{name}>" if text else f"{self._begun}/>"
            self._begun, self._depth = "", self._depth - 1
        else:
            self._open()
            line, self._depth = f"</{name}>", self._depth - 1
        self._write(line)

    def text(self, data: str) -> None:
        self._text.append(data)

    def comment(self, data: str) -> None:
        self._open()
        self._write(f"<!--{data}-->")

    def instruction(self, target: str, data: str) -> None:
        self._open()
        self._write(f"<?{target} {data}?>")

    def _open(self) -> None:
        """Open a new level inside of the last line."""
        text = self._taken()
        if self._begun:
            begun, self._begun = self._begun, ""
            self._depth -= 1
            self._write(f"{begun}>")
            self._depth += 1
        if text:
            self._write(text)

    def _taken(self) -> str:
        text, self._text = "".join(self._text).strip(), []
        return escape(text)

    def _write(self, line: str) -> None:
        self._lines.append(_INDENT * self._depth + line)
        self._length += len(self._lines[-1]) + 1
        if self._length > self._length_max + 1:
            raise _Enough
