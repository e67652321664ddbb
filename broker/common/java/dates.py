"""java.text.SimpleDateFormat of the JDK 21 in UTC and English, lenient as it is by default. Pure."""

import re
from collections.abc import Callable

from broker.common.java.gregorian import CalendarFields, calendar_fields, moment
from broker.common.java.zones import zone_at

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LETTERS = "GyMdkHmsSEDFwWahKzZYuXL"
#: Letters whose digits end where the count of letters says, if another of these stands before them.
_NUMERIC = frozenset("ydkHmsSDFwWhKYu")
_PART = re.compile(r"([A-Za-z])\1*|''|'((?:[^']|'')*)'|[^A-Za-z']", re.DOTALL)
_NUMBER = re.compile(r"(-?)(\d+)(?:E(-?\d{1,4}))?")
_OF_ZONE = {"Z": ("+0000", "+0000"), "X": ("Z", "Z"), "z": ("UTC", "Coordinated Universal Time")}
_FIELDS = {
    "d": "day",
    "H": "hour_of_day",
    "k": "hour_of_day",
    "h": "hour",
    "K": "hour",
    "m": "minute",
    "s": "second",
    "S": "millisecond",
    "D": "day_of_year",
    "F": "day_of_week_in_month",
    "w": "week",
    "W": "week_of_month",
    "y": "year",
    "Y": "week_year",
    "M": "month",
    "L": "month",
    "u": "day_of_week",
}

Part = tuple[str, int] | str


class DateFormat:
    """A pattern of letters. `now_ms` says the century of years of two digits: 80 years before it, and 20 after."""

    def __init__(self, pattern: str, now_ms: int):
        """Raises ValueError naming what is no pattern."""
        self._parts = _parts_of(pattern)
        now = calendar_fields(now_ms)
        self._century = (now.year - 80, now_ms - now_ms % 86_400_000)
        self._start_ms = moment(
            {
                "year": (1, now.year - 80),
                "month": (2, now.month),
                "day": (3, now.day),
                "millisecond": (4, now.ms_of_day),
            }
        )

    def format(self, ms: int) -> str:
        """Return the text of a moment, in milliseconds since 1970."""
        fields = calendar_fields(ms)
        return "".join(part if isinstance(part, str) else _written(fields, *part) for part in self._parts)

    def parse(self, text: str) -> int:
        """Return the milliseconds since 1970 of what the text begins with. Raises ValueError."""
        reading = _Reading(text, self._century[0])
        for index, part in enumerate(self._parts):
            if isinstance(part, str):
                reading.literal(part)
            else:
                following = self._parts[index + 1] if index + 1 < len(self._parts) else ""
                reading.field(*part, is_abutting=_is_numeric(following))
        ms = moment(reading.fields, reading.offset_ms)
        if reading.is_ambiguous and ms < self._start_ms:
            stamp, year = reading.fields["year"]
            ms = moment({**reading.fields, "year": (stamp, year + 100)}, reading.offset_ms)
        return ms


def _parts_of(pattern: str) -> list[Part]:
    parts: list[Part] = []
    at = 0
    while at < len(pattern):
        match = _PART.match(pattern, at)
        if match is None:
            raise ValueError("Unterminated quote")
        letter = match.group(1)
        if letter and letter not in _LETTERS:
            raise ValueError(f"Illegal pattern character {letter!r}")
        if letter == "X" and match.end() - at > 3:
            raise ValueError(f"invalid ISO 8601 format: length={match.end() - at}")
        if letter:
            parts.append((letter, match.end() - at))
        else:
            quoted = match.group(2)
            parts.append(match.group().replace("''", "'") if quoted is None else quoted.replace("''", "'"))
        at = match.end()
    return parts


def _is_numeric(part: Part) -> bool:
    return not isinstance(part, str) and (part[0] in _NUMERIC or (part[0] in "ML" and part[1] <= 2))


def _written(fields: CalendarFields, letter: str, count: int) -> str:
    if letter in _OF_ZONE:
        return _OF_ZONE[letter][count >= 4]
    if letter in "yY":
        year = fields.year if letter == "y" else fields.week_year
        return f"{year % 100:02}" if count == 2 else _padded(year, count)
    if letter in "ML" and count >= 3:
        return _MONTHS[fields.month] if count > 3 else _MONTHS[fields.month][:3]
    if letter == "E":
        day = _DAYS[fields.day_of_week - 1]
        return day if count > 3 else day[:3]
    if letter == "G":
        return ("AD" if fields.is_ad else "BC") if count < 4 else "Anno Domini" if fields.is_ad else "Before Christ"
    if letter == "a":
        return "AM" if fields.ms_of_day < 43_200_000 else "PM"
    return _padded(_NUMBERS[letter](fields), count)


def _padded(value: int, count: int) -> str:
    sign, digits = ("-", -value) if value < 0 else ("", value)
    return sign + str(digits).zfill(count)


_NUMBERS: dict[str, Callable[[CalendarFields], int]] = {
    "M": lambda fields: fields.month + 1,
    "L": lambda fields: fields.month + 1,
    "d": lambda fields: fields.day,
    "D": lambda fields: fields.day_of_year,
    "F": lambda fields: fields.day_of_week_in_month,
    "w": lambda fields: fields.week_of_year,
    "W": lambda fields: fields.week_of_month,
    "u": lambda fields: (fields.day_of_week + 5) % 7 + 1,
    "H": lambda fields: fields.ms_of_day // 3_600_000,
    "k": lambda fields: fields.ms_of_day // 3_600_000 or 24,
    "K": lambda fields: fields.ms_of_day // 3_600_000 % 12,
    "h": lambda fields: fields.ms_of_day // 3_600_000 % 12 or 12,
    "m": lambda fields: fields.ms_of_day // 60_000 % 60,
    "s": lambda fields: fields.ms_of_day // 1000 % 60,
    "S": lambda fields: fields.ms_of_day % 1000,
}


class _Reading:
    """A text that is read from its begin; a field that comes later has the higher stamp."""

    def __init__(self, text: str, century_year: int):
        self._text, self._century_year, self._at, self._stamp = text, century_year, 0, 0
        self.fields: dict[str, tuple[int, int]] = {}
        self.offset_ms: int | None = None
        self.is_ambiguous = False

    def literal(self, expected: str) -> None:
        if not self._text.startswith(expected, self._at):
            raise self._error()
        self._at += len(expected)

    def field(self, letter: str, count: int, is_abutting: bool) -> None:
        begin = self._at
        while self._text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1
        if self._at >= len(self._text):
            raise self._error()
        if letter in "zZ":
            self._zone(begin)
        elif letter == "X":
            self._iso_zone(count)
        elif letter in "EGa" or (letter in "ML" and count > 2):
            self._name(letter, begin)
        else:
            self._number(letter, count, begin + count if is_abutting else None)

    def _error(self) -> ValueError:
        return ValueError(f"Unparseable date: {self._text[:100]!r}")

    def _set(self, name: str, value: int) -> None:
        self._stamp += 1
        self.fields[name] = (self._stamp, value)

    def _name(self, letter: str, begin: int) -> None:
        """Read the longest name that begins where the blanks before it begin, as in Java."""
        field, names = _NAMES[letter]
        rest = self._text[begin : begin + 20].lower()
        matching = [name for name in names if rest.startswith(name)]
        if not matching:
            raise self._error()
        longest = max(matching, key=len)
        self._set(field, names[longest])
        self._at = begin + len(longest)

    def _number(self, letter: str, count: int, end: int | None) -> None:
        text = self._text
        if end is not None and end > len(text):
            raise self._error()
        first = self._at
        match = _NUMBER.match(text, first, len(text) if end is None else end)
        if match is None:
            raise self._error()
        value = _int_of(match)
        self._at = match.end()
        if letter in "yY":
            value = self._year(value, count, text[first : self._at])
        elif letter in "ML":
            value -= 1
        elif (letter, value) in (("k", 24), ("h", 12)):
            value = 0
        elif letter == "u":
            value = value % 7 + 1 if 1 <= value <= 7 else value
        self._set(_FIELDS[letter], value)

    def _year(self, value: int, count: int, digits: str) -> int:
        if count > 2 or len(digits) != 2 or not digits.isdecimal():
            return value
        ambiguous = self._century_year % 100
        self.is_ambiguous = value == ambiguous
        return value + self._century_year // 100 * 100 + (100 if value < ambiguous else 0)

    def _iso_zone(self, count: int) -> None:
        if self._text[self._at] == "Z":
            self._at += 1
            self._offset(0)
        else:
            self._numeric_zone(count, has_colon=count == 3)

    def _zone(self, begin: int) -> None:
        if self._text[self._at] in "+-":
            self._numeric_zone(0, has_colon=False)
            return
        if self._text[begin : begin + 3].lower() == "gmt":
            self._at = begin + 3
            if self._text[self._at : self._at + 1] in ("+", "-"):
                self._numeric_zone(0, has_colon=True)
            else:
                self._offset(0)
            return
        zone = zone_at(self._text, self._at)
        if zone is None:
            raise self._error()
        length, minutes = zone
        self.offset_ms = minutes * 60_000
        self.fields.pop("zone_offset", None)
        self._at += length

    def _numeric_zone(self, count: int, has_colon: bool) -> None:
        hours = r"(\d\d?)" if has_colon and count == 0 else r"(\d\d)"
        minutes = "" if count == 1 else r":(\d\d)" if has_colon else r"(\d\d)"
        match = re.compile(rf"([+-]){hours}{minutes}", re.ASCII).match(self._text, self._at)
        if match is None:
            raise self._error()
        offset = [int(part) for part in match.groups()[1:]]
        if offset[0] > 23 or offset[-1] > 59:
            raise self._error()
        total = offset[0] * 60 + (offset[1] if len(offset) > 1 else 0)
        self._at = match.end()
        self._offset(-total if match.group(1) == "-" else total)

    def _offset(self, minutes: int) -> None:
        self._set("zone_offset", minutes * 60_000)
        self._set("dst_offset", 0)


def _int_of(match: re.Match[str]) -> int:
    """Return Number.intValue of what DecimalFormat reads: 64 bits are cut to 32, what is larger is the largest."""
    sign, digits, exponent = match.groups()
    if exponent is not None:
        value = int(digits[:400]) * 10 ** min(int(exponent), 400) if int(exponent) >= 0 else 0
        if int(exponent) < 0:
            value = int(digits[:400]) // 10 ** min(-int(exponent), 400)
    else:
        value = int(digits[:400])
    value = -value if sign else value
    if not -(1 << 63) <= value < 1 << 63:
        return (1 << 31) - 1 if value > 0 else -(1 << 31)
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _both(names: tuple[str, ...], first: int) -> dict[str, int]:
    """Return the names in full and short, in lower case, with their numbers."""
    numbered = {name.lower(): number for number, name in enumerate(names, first)}
    return {**numbered, **{name[:3]: number for name, number in numbered.items()}}


_NAMES = {
    "M": ("month", _both(_MONTHS, 0)),
    "L": ("month", _both(_MONTHS, 0)),
    "E": ("day_of_week", _both(_DAYS, 1)),
    "G": ("era", {"bc": 0, "ad": 1, "before christ": 0, "anno domini": 1}),
    "a": ("am_pm", {"am": 0, "pm": 1}),
}
