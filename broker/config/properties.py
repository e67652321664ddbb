"""Java properties files, as `server.properties` is one: `key=value` lines, `#` comments, backslash continuation."""

from collections.abc import Iterable


def parse_properties(text: str) -> dict[str, str]:
    """The pairs of a properties file. A later line wins over an earlier one, as in Java."""
    pairs: dict[str, str] = {}
    for line in _logical_lines(text.splitlines()):
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


def render_properties(pairs: dict[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in pairs.items())
