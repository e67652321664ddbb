"""Lines of stdin as kafka-console-producer makes records of them. Pure.

A line ends with LF, CR or both, as Java reads lines; the last one needs no end.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from broker.cli.frame.declaration import CommandError
from broker.common.limits import INPUT_LINE_BYTES_MAX

_FORBIDDEN_PAIRS = (
    ("null.marker", "key.separator"),
    ("null.marker", "headers.delimiter"),
    ("null.marker", "headers.separator"),
    ("null.marker", "headers.key.separator"),
    ("headers.delimiter", "headers.separator"),
    ("headers.delimiter", "headers.key.separator"),
    ("headers.separator", "headers.key.separator"),
)
_DEFAULTS = {
    "parse.key": "false",
    "parse.headers": "false",
    "ignore.error": "false",
    "key.separator": "\t",
    "headers.delimiter": "\t",
    "headers.separator": ",",
    "headers.key.separator": ":",
}


class LineRecord(NamedTuple):
    value: bytes | None
    key: bytes | None = None
    headers: list[tuple[str, bytes | None]] | None = None


class LineSplitter:
    """Splits a stream into lines. Keeps no more than the unfinished line."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0
        #: An LF that comes next belongs to the CR that ended the last line.
        self._is_after_cr = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that end in `data`. CommandError for a line longer than any record."""
        if self._is_after_cr and data.startswith(b"\n"):
            data = data[1:]
        if not data:
            return []
        self._is_after_cr = data.endswith(b"\r")
        lines = data.splitlines()
        rest = b"" if data.endswith((b"\n", b"\r")) else lines.pop()
        if lines and self._pieces:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces, self._length = [], 0
        if rest:
            self._pieces.append(rest)
            self._length += len(rest)
            if self._length > INPUT_LINE_BYTES_MAX:
                raise CommandError(f"A line is longer than {INPUT_LINE_BYTES_MAX} bytes: no record can hold it.")
        return lines

    def end(self) -> list[bytes]:
        """Return the rest behind the last line end."""
        rest = b"".join(self._pieces)
        self._pieces, self._length = [], 0
        return [rest] if rest else []


def line_parser(properties: Mapping[str, str]) -> Callable[[bytes, int], LineRecord] | None:
    """Return a parser of (line, line number); None if each line is a value as it is.

    CommandError for properties that contradict each other; the parser raises it for a line that is not as they say.
    """
    chosen = {**_DEFAULTS, **properties}
    parses_key, parses_headers = _is_true(chosen["parse.key"]), _is_true(chosen["parse.headers"])
    _check(chosen)
    if not (parses_key or parses_headers or "null.marker" in chosen):
        return None
    return _LineParser(chosen, parses_key=parses_key, parses_headers=parses_headers).parse


class _LineParser:
    def __init__(self, chosen: Mapping[str, str], *, parses_key: bool, parses_headers: bool):
        self._parses_key = parses_key
        self._parses_headers = parses_headers
        self._ignores_error = _is_true(chosen["ignore.error"])
        self._key_separator = chosen["key.separator"].encode()
        self._headers_delimiter = chosen["headers.delimiter"].encode()
        try:
            self._headers_separator = re.compile(chosen["headers.separator"])
        except re.error as error:
            raise CommandError(f"headers.separator is no regular expression: {error}") from None
        self._header_key_separator = chosen["headers.key.separator"]
        self._null = chosen["null.marker"].encode() if "null.marker" in chosen else None

    def parse(self, line: bytes, number: int) -> LineRecord:
        headers, key, rest = None, None, line
        if self._parses_headers:
            block, rest = self._split(rest, self._headers_delimiter, "headers delimiter", number, line)
            if block is not None and block != self._null:
                headers = self._headers(block.decode(errors="replace"), number)
        if self._parses_key:
            key, rest = self._split(rest, self._key_separator, "key separator", number, line)
        return LineRecord(self._or_null(rest), self._or_null(key), headers)

    def _split(self, text: bytes, at: bytes, what: str, number: int, line: bytes) -> tuple[bytes | None, bytes]:
        first, separator, rest = text.partition(at)
        if separator:
            return first, rest
        if self._ignores_error:
            return None, text
        raise _fault(f"No {what} found on line number {number}: '{line.decode(errors='replace')}'")

    def _headers(self, block: str, number: int) -> list[tuple[str, bytes | None]]:
        headers: list[tuple[str, bytes | None]] = []
        for pair in self._headers_separator.split(block):
            name, separator, value = pair.partition(self._header_key_separator)
            if not separator:
                if self._ignores_error:
                    headers.append((pair, None))
                    continue
                raise _fault(f"No header key separator found in pair '{pair}' on line number {number}")
            if self._null is not None and name.encode() == self._null:
                raise _fault(f"Header keys should not be equal to the null marker '{name}' as they can't be null")
            headers.append((name, self._or_null(value.encode())))
        return headers

    def _or_null(self, data: bytes | None) -> bytes | None:
        return None if data == self._null else data


def _check(chosen: Mapping[str, str]) -> None:
    for name, other in _FORBIDDEN_PAIRS:
        if name in chosen and chosen[name] == chosen[other]:
            raise _fault(f"{name} and {other} may not be equal")


def _fault(text: str) -> CommandError:
    return CommandError(f"org.apache.kafka.common.KafkaException: {text}")


def _is_true(text: str) -> bool:
    return text.strip().lower() == "true"
