"""JSON over several lines, letter by letter as it was written: only the white space between is ours. Pure.

Parsing it and writing it again would lose what a reader came for: 1e400, a key that stands twice, the last digits of a
long number, how a letter was escaped.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Deeper than this an object is no tree any more: a browser nests elements 512 deep.
DEPTH_MAX = 100
_INDENT = "  "
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_EMPTY = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class JsonLine:
    """`opens`: the lines up to the one that `closes` are what this object or array holds."""

    depth: int
    text: str
    opens: bool = False
    closes: bool = False


def is_document(text: str) -> bool:
    """Return True for an object or array by RFC 8259; a number or word alone is no document."""
    try:
        parsed = json.loads(text, parse_float=str, parse_int=str, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed, dict | list)


def layout(text: str) -> Iterator[JsonLine]:
    """Yield the lines of `text`, which is a document."""
    line, depth, before = "", 0, ""
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token in "{[":
            if before in _EMPTY:
                yield JsonLine(depth, line, opens=True)
                line, depth = "", depth + 1
            line += token
        elif token in "}]":
            if _EMPTY.get(before) == token:
                line += token
            else:
                yield _line(depth, line)
                line, depth = token, depth - 1
        elif token == ",":
            yield _line(depth, line + token)
            line = ""
        else:
            if before in _EMPTY:
                yield JsonLine(depth, line, opens=True)
                line, depth = "", depth + 1
            line += ": " if token == ":" else token
        before = token
    yield _line(depth, line)


def laid_out(text: str, length_max: int) -> tuple[str, bool]:
    """Return `text`, which is a document, laid out up to `length_max` characters, and whether more would follow."""
    lines, length = [], 0
    for line in layout(text):
        lines.append(_INDENT * line.depth + line.text)
        length += len(lines[-1]) + 1
        if length > length_max + 1:
            return "\n".join(lines)[:length_max], True
    return "\n".join(lines), False


def tree(text: str, lines_max: int) -> tuple[JsonLine, ...]:
    """Return the lines of `text`; none if they are more than `lines_max`, or nest deeper than DEPTH_MAX."""
    lines: list[JsonLine] = []
    for line in layout(text):
        if len(lines) == lines_max or line.depth > DEPTH_MAX:
            return ()
        lines.append(line)
    return tuple(lines)


def _line(depth: int, text: str) -> JsonLine:
    return JsonLine(depth, text, closes=text[0] in "}]")


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
