"""The process in which an expression of a search is evaluated: it can be killed, and its memory is bounded.

Run as a file, so that nothing of the console is imported. It reads the expression, answers whether it can be meant so,
and then for each record with one byte: no, yes, or that it could not be told, which is followed by the reason.
"""

import json
import pickle
import re
import resource
import struct
import sys
from typing import Any, BinaryIO

MEMORY_BYTES_MAX = 1 << 30
NAMES = ("key", "value", "headers", "partition", "offset", "timestamp", "size")
#: Names that macros give to the elements they go through.
_BOUND = re.compile(r"\.(?:all|exists|exists_one|existsOne|filter|map)\(\s*(\w+)\s*,")
NO, YES, FAILED = b"n", b"y", b"f"
_LENGTH = struct.Struct(">I")
_REASON_LENGTH_MAX = 300
Headers = tuple[tuple[str, bytes | None], ...]


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    import cel

    source, out = sys.stdin.buffer, sys.stdout.buffer
    try:
        text = _read(source).decode()
        program = cel.compile(text)
        unknown = sorted(set(program.variables()) - set(NAMES) - set(_BOUND.findall(text)))
        reason = f"there is no name {unknown[0]}; there are {', '.join(NAMES)}" if unknown else ""
    except Exception as error:
        reason = str(error)
    _say(out, reason)
    while not reason and (data := _read(source)):
        try:
            result = program.execute(_names(*pickle.loads(data)))
            if not isinstance(result, bool):
                raise TypeError(f"the expression gives {type(result).__name__}, not true or false")
            out.write(YES if result else NO)
            out.flush()
        except Exception as error:
            out.write(FAILED)
            _say(out, _sentence(error))


def _sentence(error: Exception) -> str:
    """Return the library's first sentence, which says what is wrong, without its long explanation."""
    if isinstance(error, KeyError):
        return f"there is no {error}"
    return str(error).partition(". ")[0] or type(error).__name__


def _names(
    key: bytes | None, value: bytes | None, headers: Headers, partition: int, offset: int, at_ms: int | None, size: int
) -> dict[str, Any]:
    named = {name: _text(data) for name, data in headers}
    values = (_document(key), _document(value), named, partition, offset, at_ms, size)
    return dict(zip(NAMES, values, strict=True))


def _document(data: bytes | None) -> Any:
    """Return JSON as its value, other text as text, other bytes as they are, null as null."""
    text = _text(data)
    if isinstance(text, str) and text[:1] in ("{", "[", '"', "-", *"0123456789", "t", "f", "n"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _text(data: bytes | None) -> str | bytes | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return data


def _read(source: BinaryIO) -> bytes:
    length = source.read(_LENGTH.size)
    return source.read(_LENGTH.unpack(length)[0]) if length else b""


def _say(out: BinaryIO, text: str) -> None:
    data = text.encode(errors="replace")[:_REASON_LENGTH_MAX]
    out.write(_LENGTH.pack(len(data)) + data)
    out.flush()


if __name__ == "__main__":
    main()
