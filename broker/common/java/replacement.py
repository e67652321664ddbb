"""What java.util.regex.Matcher.replaceFirst writes: `$1`, `${name}`, and what a backslash stands before. Pure."""

import re
from collections.abc import Mapping, Sequence

_REPLACED = re.compile(r"\\(.)|\$(?:([0-9])([0-9]*)|\{([A-Za-z][A-Za-z0-9]*)\})|([\\$])", re.DOTALL)


class JavaReplacement:
    """A replacement that was read once; a part is a text, or the number of a group."""

    def __init__(self, text: str, groups: int, names: Mapping[str, int]):
        """Raises ValueError if it names a group that is not there."""
        self._parts: list[str | int] = []
        at = 0
        for match in _REPLACED.finditer(text):
            self._parts.append(text[at : match.start()])
            at = match.end()
            escaped, first, more, named, odd = match.groups()
            if odd or (named and named not in names) or (first and int(first) > groups):
                raise ValueError(f"no such group: {match.group()}")
            if escaped:
                self._parts.append(escaped)
            elif named:
                self._parts.append(names[named])
            else:
                self._parts += _numbered(first, more, groups)
        self._parts.append(text[at:])

    def of(self, groups: Sequence[str | None]) -> str:
        """Return the text; a group that matched nothing is empty."""
        return "".join(part if isinstance(part, str) else groups[part] or "" for part in self._parts)


def _numbered(first: str, more: str, groups: int) -> list[str | int]:
    """Split a group number: as many digits as there are groups for; the rest is text."""
    number, used = int(first), 0
    while used < len(more) and number * 10 + int(more[used]) <= groups:
        number, used = number * 10 + int(more[used]), used + 1
    return [number, more[used:]]
