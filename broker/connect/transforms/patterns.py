"""Java's patterns in Python: regular expressions, replacements and SimpleDateFormat. What differs is refused."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from broker.common.bounded_patterns import BoundedPattern, Groups
from broker.connect.api import ConfigError, DataError

#: Java only: possessive quantifiers, atomic groups and inline flags mean the same in Python 3.11. These do not, or
#: are not there: \p{…} classes, \Q…\E, \G, \R, \h, \K, class intersections, named groups in Java's spelling.
_ONLY_JAVA = re.compile(r"\\[pPQEGRhHKXNkzZ]|&&|\[[^\]]*\[(?!:)|\(\?<(?![=!])")
_NAMED_GROUP = re.compile(r"\(\?<([A-Za-z][A-Za-z0-9]*)>")
_NAMED_REFERENCE = re.compile(r"\\k<([A-Za-z][A-Za-z0-9]*)>")
#: What a topic's name or a pattern may take: a pattern is tried once for each record.
PATTERN_LENGTH_MAX = 1_000


def java_regex(name: str, pattern: str) -> BoundedPattern:
    """A Java pattern. ConfigError names the key if it has no equal in Python. ASCII classes, as Java's are.

    What it is matched with can be a stranger's, as names of topics are: it gives up where that would take long.
    """
    if len(pattern) > PATTERN_LENGTH_MAX:  # before anything reads it: some of that takes the square of its length
        raise ConfigError(name, f"Invalid value {pattern[:100]} for configuration {name}: the pattern is too long")
    translated = _NAMED_REFERENCE.sub(r"(?P=\1)", _NAMED_GROUP.sub(r"(?P<\1>", pattern))
    translated = re.sub(r"(?<!\\)((?:\\\\)*)\\z", r"\1\\Z", translated)
    checked = re.sub(r"\\\\", "", re.sub(r"\\Z$", "", translated))
    if found := _ONLY_JAVA.search(checked):
        what = f"{found.group()!r} has no equal here"
        raise ConfigError(name, f"Invalid value {pattern[:100]} for configuration {name}: Invalid regex: {what}")
    try:
        return BoundedPattern(re.compile(translated, re.ASCII))
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(name, f"Invalid value {pattern} for configuration {name}: Invalid regex: {error}") from None


_REPLACED = re.compile(r"\\(.)|\$(?:(\d)(\d*)|\{([A-Za-z][A-Za-z0-9]*)\})|([\\$])")


def java_replacement(name: str, text: str, pattern: BoundedPattern) -> Callable[[Groups], str]:
    """`$1`, `${name}` and `\\$` of Java's Matcher.replaceFirst. ConfigError if it names a group that is not there."""
    parts: list[str | int] = []
    at = 0
    for found in _REPLACED.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        escaped, first, more, named, odd = found.groups()
        if odd or (named and named not in pattern.groupindex) or (first and int(first) > pattern.groups):
            raise ConfigError(name, f"Invalid value {text} for configuration {name}: no such group: {found.group()}")
        if escaped:
            parts.append(escaped)
        elif named:
            parts.append(pattern.groupindex[named])
        else:
            number, used = int(first), 0  # Java takes as many digits as there are groups for
            while used < len(more) and number * 10 + int(more[used]) <= pattern.groups:
                number, used = number * 10 + int(more[used]), used + 1
            parts += [number, more[used:]]
    parts.append(text[at:])
    return lambda groups: "".join(part if isinstance(part, str) else groups[part] or "" for part in parts)


_LETTERS = re.compile(r"([A-Za-z])\1*|'((?:[^']|'')*)'|([^A-Za-z'])", re.S)
_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class DateFormat:
    """SimpleDateFormat in UTC and English, of the letters y M d D H k K h m s S a E z Z X; others are refused."""

    def __init__(self, name: str, pattern: str):
        if len(pattern) > PATTERN_LENGTH_MAX:
            raise ConfigError(name, f"Invalid value {pattern[:100]} for configuration {name}: the format is too long")
        self._parts: list[tuple[str, int] | str] = []
        at = 0
        while at < len(pattern):
            found = _LETTERS.match(pattern, at)
            if found is None or (found.group(1) and found.group(1) not in _FIELDS):
                raise ConfigError(name, f"Invalid value {pattern} for configuration {name}: no date format known here")
            if found.group(1):
                self._parts.append((found.group(1), found.end() - at))
            elif found.group(3):
                self._parts.append(found.group(3))
            else:
                self._parts.append(found.group(2).replace("''", "'") or "'")
            at = found.end()
        self._regex = re.compile("".join(self._expression(index) for index in range(len(self._parts))), re.I)

    def format(self, moment: datetime) -> str:
        return "".join(part if isinstance(part, str) else _FIELDS[part[0]][0](moment, part[1]) for part in self._parts)

    def parse(self, text: str) -> datetime:
        """Raises DataError. Fields that the pattern does not have are those of 1970-01-01T00:00:00Z."""
        found = self._regex.match(text)
        if found is None:
            raise DataError(f"Could not parse timestamp: value ({text}) does not match pattern")
        said = {part[0]: found.group(index + 1) for index, part in enumerate(self._letters())}
        try:
            return _moment(said, dict(self._letters()))
        except (ValueError, OverflowError) as error:
            raise DataError(f"Could not parse timestamp: value ({text}): {error}") from None

    def _letters(self) -> list[tuple[str, int]]:
        return [part for part in self._parts if not isinstance(part, str)]

    def _expression(self, index: int) -> str:
        part = self._parts[index]
        if isinstance(part, str):
            return re.escape(part)
        letter, count = part
        if letter == "M" and count >= 3:
            return f"({_any_of(_MONTHS)})"
        is_abutting = index + 1 < len(self._parts) and not isinstance(self._parts[index + 1], str)
        if _FIELDS[letter][1] == _DIGITS:
            return rf"(\d{{{count}}})" if is_abutting else f"({_DIGITS})"
        return f"({_FIELDS[letter][1]})"


def _padded(read: Callable[[datetime], int]) -> Callable[[datetime, int], str]:
    return lambda moment, count: str(read(moment)).zfill(count)


def _year(moment: datetime, count: int) -> str:
    return f"{moment.year % 100:02}" if count == 2 else str(moment.year).zfill(count)


def _month(moment: datetime, count: int) -> str:
    name = _MONTHS[moment.month - 1]
    return name if count > 3 else name[:3] if count == 3 else str(moment.month).zfill(count)


def _day_name(moment: datetime, count: int) -> str:
    name = _DAYS[moment.weekday()]
    return name if count > 3 else name[:3]


def _zone(_moment: datetime, _count: int) -> str:
    return "+0000"


def _any_of(names: list[str]) -> str:
    """The names in full or short."""
    return "|".join(f"{name}|{name[:3]}" for name in names)


#: As SimpleDateFormat reads a number: all digits, and none is given back. Values are strangers'.
_DIGITS = r"\d++"
_FIELDS: dict[str, tuple[Callable[[datetime, int], str], str]] = {
    "y": (_year, _DIGITS),
    "M": (_month, _DIGITS),
    "d": (_padded(lambda moment: moment.day), _DIGITS),
    "D": (_padded(lambda moment: moment.timetuple().tm_yday), _DIGITS),
    "H": (_padded(lambda moment: moment.hour), _DIGITS),
    "k": (_padded(lambda moment: moment.hour or 24), _DIGITS),
    "K": (_padded(lambda moment: moment.hour % 12), _DIGITS),
    "h": (_padded(lambda moment: moment.hour % 12 or 12), _DIGITS),
    "m": (_padded(lambda moment: moment.minute), _DIGITS),
    "s": (_padded(lambda moment: moment.second), _DIGITS),
    "S": (_padded(lambda moment: moment.microsecond // 1000), _DIGITS),
    "a": (lambda moment, _count: "AM" if moment.hour < 12 else "PM", "AM|PM"),
    "E": (_day_name, _any_of(_DAYS)),
    "z": (lambda _moment, _count: "UTC", "UTC|GMT|Z"),
    "Z": (_zone, r"[+-]\d{4}"),
    "X": (lambda _moment, _count: "Z", r"Z|[+-]\d\d(?::?\d\d)?"),
}


def _moment(said: dict[str, str], counts: dict[str, int]) -> datetime:
    year = int(said.get("y", 1970))
    if counts.get("y") == 2 and len(said["y"]) == 2:
        year += 2000 if year < 50 else 1900
    month_text = said.get("M", "1")
    month = int(month_text) if month_text.isdigit() else _month_number(month_text)
    hour = int(said.get("H", said.get("k", said.get("h", said.get("K", 0)))))
    if "k" in said:
        hour %= 24
    if "h" in said or "K" in said:
        hour = hour % 12 + (12 if said.get("a", "AM").upper() == "PM" else 0)
    moment = datetime(
        year, month, int(said.get("d", 1)), hour, int(said.get("m", 0)), int(said.get("s", 0)), tzinfo=UTC
    )
    moment += timedelta(milliseconds=int(said.get("S", 0)))
    if "D" in said:
        moment = moment.replace(month=1, day=1) + timedelta(days=int(said["D"]) - 1)
    return moment - timedelta(minutes=_offset_minutes(said.get("Z") or said.get("X") or "Z"))


def _month_number(text: str) -> int:
    for number, name in enumerate(_MONTHS, 1):
        if text.lower() in (name.lower(), name[:3].lower()):
            return number
    raise ValueError(f"no month: {text}")


def _offset_minutes(text: str) -> int:
    digits = text.replace(":", "")
    if digits.upper() == "Z":
        return 0
    minutes = int(digits[1:3]) * 60 + int(digits[3:5] or 0)
    return -minutes if digits[0] == "-" else minutes
