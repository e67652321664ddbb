"""Java properties files, as `server.properties` is one, read as `java.util.Properties` reads them, and written for it.

Deliberate differences: blanks at the end of a value do not count, as Kafka trims its settings, and `\\u` without four
digits is left as it stands, where Java refuses the file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

#: Nothing else ends a line in Java: what is behind any other would be a key that nobody wrote.
_LINE_END = re.compile(r"\r\n|[\r\n]")
_BLANKS = " \t\f"
#: A key, up to the first separator that is not escaped, and what separates it from its value.
_KEY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_BLANKS_AT_END = re.compile(r"((?:\\.|[^\\])*?)[ \t\f]*", re.DOTALL)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN = {"\\": "\\\\", **{character: f"\\{letter}" for letter, character in _ESCAPES.items()}}
_OF_KEYS = re.compile(r"[ =:]|^[#!]")
_BLANK_AT_AN_END = re.compile(r"^ | $")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def parse_properties(text: str) -> dict[str, str]:
    """Return the pairs of a properties file. A later line wins over an earlier one, as in Java."""
    pairs: dict[str, str] = {}
    lines = _LINE_END.split(text)
    for line in _logical_lines(lines if lines[-1] else lines[:-1]):
        match = _KEY.match(line)
        assert match is not None
        value = _BLANKS_AT_END.fullmatch(line, match.end())
        pairs[_unescaped(match[1])] = _unescaped(line[match.end() :] if value is None else value[1])
    return pairs


def key_of_line(line: str) -> str:
    """Return the key in the first line of a pair; empty for a comment or a blank line."""
    line = line.lstrip(_BLANKS)
    match = _KEY.match("" if line[:1] in ("#", "!") else line)
    return _unescaped(match[1]) if match else ""


def is_continued(line: str) -> bool:
    """Return whether the pair in a line goes on in the next: an odd number of backslashes ends it."""
    return bool((len(line) - len(line.rstrip("\\"))) % 2)


def properties_text(pairs: Mapping[str, str]) -> str:
    """Return the lines that `parse_properties` and Java read as these pairs."""
    return "".join(f"{_written_key(key)}={written_value(value)}\n" for key, value in pairs.items())


def written_value(value: str) -> str:
    """Return the value on one line, whatever a reader takes for the end of a line."""
    return _BLANK_AT_AN_END.sub(r"\\ ", _on_one_line(value))


def _written_key(key: str) -> str:
    return _OF_KEYS.sub(r"\\\g<0>", _on_one_line(key))


def _on_one_line(text: str) -> str:
    return "".join(_WRITTEN.get(letter, _by_number(letter)) for letter in text)


def _by_number(letter: str) -> str:
    return letter if letter.isprintable() or ord(letter) > 0xFFFF else f"\\u{ord(letter):04x}"


def _logical_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that hold pairs, without blanks before them; one that ends in a backslash goes on in the next."""
    pending: str | None = None
    for natural in lines:
        line = natural.lstrip(_BLANKS)
        if not pending and (not line or line[0] in "#!"):
            pending = None
            continue
        line = (pending or "") + line
        if is_continued(line):
            pending = line[:-1]
            continue
        pending = None
        yield line
    if pending is not None:
        yield pending


def _unescaped(text: str) -> str:
    read = _ESCAPED.sub(_character, text) if "\\" in text else text
    # Beyond \uffff Java writes two halves.
    return read.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _SURROGATES.search(read) else read


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)
