"""Java properties files, as `server.properties` is one: `key=value` lines, `#` comments, backslash continuation."""

import re
from collections.abc import Iterable, Mapping

#: Nothing else ends a line in Java: what is behind any other would be a key that nobody wrote.
_LINE_END = re.compile(r"\r\n|[\r\n]")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """The pairs of a properties file. A later line wins over an earlier one, as in Java."""
    pairs: dict[str, str] = {}
    for line in _logical_lines(_LINE_END.split(text)):
        key, _, value = line.partition("=")
        pairs[key.strip()] = value.strip()
    return pairs


def _logical_lines(lines: Iterable[str]) -> Iterable[str]:
    pending = ""
    for line in lines:
        line = line.strip()
        if not pending and (not line or line[0] in "#!"):
            continue
        if line.endswith("\\"):
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    if pending:
        yield pending


def unescaped(properties: Mapping[str, str]) -> dict[str, str]:
    """Values in which `\\t` is a tab, as Java reads them: separators, passwords and PEM are written so."""
    return {name: _ESCAPED.sub(_character, value) for name, value in properties.items()}


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)
