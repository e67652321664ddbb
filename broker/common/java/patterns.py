"""java.util.regex.Pattern in Python's `re`: a pattern is read as Java does, and written anew. Pure.

Every class, flag and case is written out, so that Python's own flags and classes never count.
"""

import re
import unicodedata

from broker.common.java import characters
from broker.common.java.character_class import Flags, PatternError, read_class, written

_LINE_END = r"(?:\r\n|(?<!\r)\n|[\r\x85\u2028\u2029])"
_DEPTH_MAX = 100
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_BOUNDARIES = {"b": r"\b", "B": r"(?!\b)", "A": r"\A", "z": r"\Z", "G": r"\A"}
_CLASSES = {
    "d": characters.DIGIT,
    "w": characters.WORD,
    "s": characters.SPACE,
    "h": characters.HORIZONTAL,
    "v": characters.VERTICAL,
}
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d+)(,(\d*))?\})([?+]?)", re.ASCII)
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9]*)>")
_REPEATED_MAX = (1 << 31) - 1
_NOT_REPEATED = {"", *_BOUNDARIES.values()}


class UnsupportedPattern(PatternError):
    """A pattern of Java's that has no equal here."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return what matches as `Pattern.compile(pattern)`; fullmatch is `matches`. Raises PatternError."""
    translated = Translation(pattern).text
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnsupportedPattern(f"no equal here: {error}") from None


class Translation:
    """`text` is the pattern in Python's words."""

    def __init__(self, pattern: str):
        """Raises PatternError."""
        self._pattern = _without_quotes(pattern)
        self.at, self.flags = 0, Flags()
        self._groups, self._names, self._depth = 0, dict[str, int](), 0
        self._open: set[int] = set()
        self._behind = 0
        self.text = "|".join(self._alternatives())
        if self.at < len(self._pattern):
            raise PatternError(f"Unmatched closing ')' near index {self.at}")

    def peek(self, ahead: int = 0) -> str:
        """Return the next character, empty at the end; blanks and comments are passed over with (?x)."""
        if self.flags.comments and not ahead:
            while self.at < len(self._pattern) and self._pattern[self.at] in " \t\n\r\f\v#":
                if self._pattern[self.at] == "#":
                    end = re.compile(r"[^\n\r\x85\u2028\u2029]*").match(self._pattern, self.at)
                    self.at = end.end() if end else self.at
                else:
                    self.at += 1
        return self._pattern[self.at + ahead : self.at + ahead + 1]

    def take(self) -> str:
        """Return the next character, and pass it. Raises PatternError at the end."""
        char = self.peek()
        if not char:
            raise PatternError("Unexpected end of the pattern")
        self.at += 1
        return char

    def rest(self, length: int) -> str:
        return self._pattern[self.at : self.at + length]

    def match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """Match the expression at the current position, and advance past the match."""
        match = expression.match(self._pattern, self.at)
        self.at = match.end() if match else self.at
        return match

    def _alternatives(self) -> list[str]:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise UnsupportedPattern(f"groups in more than {_DEPTH_MAX} groups")
        saved, branches = self.flags, [self._sequence()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self._sequence())
        self.flags, self._depth = saved, self._depth - 1
        return branches

    def _sequence(self) -> str:
        made = []
        while (char := self.peek()) and char not in "|)":
            if char in "*+?":
                raise PatternError(f"Dangling meta character {char!r} near index {self.at}")
            atom = self._atom(char)
            if atom is not None:
                made.append(self._repeated(atom))
        return "".join(made)

    def _repeated(self, atom: str) -> str:
        self.peek()
        match = self.match(_QUANTIFIER)
        if match is None:
            if self.peek() == "{":
                raise PatternError(f"Illegal repetition near index {self.at}")
            return atom
        sign, least, _, most, _ = match.groups()
        if not sign and (int(least) > _REPEATED_MAX or (most and not int(least) <= int(most) <= _REPEATED_MAX)):
            raise PatternError(f"Illegal repetition range near index {self.at}")
        return f"(?:{atom}){match.group()}" if atom in _NOT_REPEATED else atom + match.group()

    def _atom(self, char: str) -> str | None:
        if char == "{":
            return ""
        self.at += 1
        match char:
            case "(":
                return self._group()
            case "[":
                return written(read_class(self))
            case "\\":
                return self._escape()
            case "^":
                return self._caret()
            case "$":
                return self._dollar()
            case ".":
                excluded = () if self.flags.dotall else self._line_ends()
                return written(characters.complement(excluded))
        return self.literal(char)

    def literal(self, char: str) -> str:
        """Return a pattern for a character, in both cases if case is ignored."""
        if self.flags.ignore_case:
            return written(characters.with_other_case(((ord(char), ord(char)),), self.flags.unicode_case))
        return re.escape(char)

    def _line_ends(self) -> characters.Ranges:
        return ((0x0A, 0x0A),) if self.flags.unix_lines else characters.LINE_ENDS

    def _caret(self) -> str:
        if not self.flags.multiline:
            return r"\A"
        behind = r"(?<=\n)" if self.flags.unix_lines else r"(?<=[\n\x85\u2028\u2029])|(?<=\r)(?!\n)"
        return rf"(?:\A|{behind})(?!\Z)"

    def _dollar(self, is_multiline: bool | None = None) -> str:
        end = r"\n" if self.flags.unix_lines else _LINE_END
        multiline = self.flags.multiline if is_multiline is None else is_multiline
        return rf"(?={end}|\Z)" if multiline else rf"(?=(?:{end})?\Z)"

    def _group(self) -> str | None:
        if self.peek() != "?":
            return f"({self._captured()}"
        self.at += 1
        for head in ("<=", "<!"):
            if self.rest(2) == head:
                self.at += 2
                return self._lookbehind(f"(?{head}")
        char = self.take()
        if char in ":=!>":
            return f"(?{char}{self._inside()}"
        if char == "<":
            name = self.match(_NAME)
            if name is None or name.group(1) in self._names:
                raise PatternError(f"no name of a group, or one given before, near index {self.at}")
            self._names[name.group(1)] = self._groups + 1
            return f"(?P<{name.group(1)}>{self._captured()}"
        self.at -= 1
        return self._modifiers()

    def _captured(self) -> str:
        self._groups += 1
        number = self._groups
        self._open.add(number)
        inside = self._inside()
        self._open.discard(number)
        return inside

    def _inside(self) -> str:
        text = "|".join(self._alternatives())
        if self.peek() != ")":
            raise PatternError("Unclosed group")
        self.at += 1
        return f"{text})"

    def _lookbehind(self, head: str) -> str:
        """Translate a lookbehind: Python's has one width, so each alternative gets its own."""
        self._behind += 1
        alternatives = self._alternatives()
        self._behind -= 1
        if self.peek() != ")":
            raise PatternError("Unclosed group")
        self.at += 1
        behind = [f"{head}{alternative})" for alternative in alternatives]
        return f"(?:{('' if head == '(?<!' else '|').join(behind)})"

    def _modifiers(self) -> str | None:
        """Parse modifiers: `(?i)` holds until the end of its group, `(?i:…)` within."""
        saved, is_on = self.flags, True
        while (char := self.take()) not in ":)":
            if char == "-" and is_on:
                is_on = False
            elif char == "U":
                raise UnsupportedPattern("the flag U has no equal here")
            else:
                self.flags = self.flags.with_letter(char, is_on)
        if char == ")":
            return None
        made = f"(?:{self._inside()}"
        self.flags = saved
        return made

    def _escape(self) -> str:
        char = self.take()
        if char in "123456789":
            return self._back_reference(int(char))
        if char in _BOUNDARIES:
            if char == "b" and self.rest(3) == "{g}":
                raise UnsupportedPattern(r"\b{g} has no equal here")
            return _BOUNDARIES[char]
        if char == "Z":
            return self._dollar(is_multiline=False)
        if char == "R":
            return r"(?:\r\n|[\n-\r\x85\u2028\u2029])"
        if char == "k":
            return self._named_reference()
        if char == "X":
            raise UnsupportedPattern(r"\X has no equal here")
        escape = self.escaped(char)
        return self.literal(escape) if isinstance(escape, str) else written(escape)

    def escaped(self, char: str) -> str | characters.Ranges:
        """Return a character or a set that is written with a backslash, in a class or without. Raises PatternError."""
        if char.lower() in _CLASSES:
            ranges = _CLASSES[char.lower()]
            return ranges if char.islower() else characters.complement(ranges)
        if char in "pP":
            return self._property(char == "P")
        if char in _ESCAPED:
            return _ESCAPED[char]
        if char == "c":
            return chr(ord(self.take()) ^ 64)
        if char in "0xuN":
            return self._by_number(char)
        if (char.isascii() and char.isalpha()) or (char.isdigit() and char.isascii()):
            raise PatternError(f"Illegal/unsupported escape sequence near index {self.at}")
        return char

    def _property(self, is_negated: bool) -> characters.Ranges:
        name = self.take()
        if name == "{":
            match = self.match(re.compile(r"([^}]*)\}"))
            if match is None:
                raise PatternError("Unclosed character family")
            name = match.group(1)
        ranges = characters.property_named(name)
        if ranges is None:
            raise UnsupportedPattern(rf"\p{{{name[:40]}}} is not known here")
        if self.flags.ignore_case and name in _OF_CASE:
            ranges = characters.with_other_case(ranges, name not in ("Lower", "Upper"))
        return characters.complement(ranges) if is_negated else ranges

    def _by_number(self, char: str) -> str:
        octal = re.compile(r"[0-3]?[0-7]{1,2}")
        forms = {
            "0": octal,
            "x": re.compile(r"\{([\da-fA-F]+)\}|([\da-fA-F]{2})"),
            "u": re.compile(r"u*([\da-fA-F]{4})"),
        }
        if char == "N":
            named = self.match(re.compile(r"\{([^}]*)\}"))
            try:
                return unicodedata.lookup(named.group(1)) if named else _refused(self.at)
            except KeyError:
                return _refused(self.at)
        match = self.match(forms[char])
        if match is None:
            return _refused(self.at)
        digits = match.group() if char == "0" else next(part for part in match.groups() if part)
        number = int(digits, 8 if char == "0" else 16)
        if number > 0x10FFFF:
            return _refused(self.at)
        if char == "u" and 0xD800 <= number < 0xDC00:
            low = self.match(re.compile(r"\\u([dD][c-fC-F][\da-fA-F]{2})"))
            if low:
                number = 0x10000 + ((number - 0xD800) << 10) + int(low.group(1), 16) - 0xDC00
        return chr(number)

    def _back_reference(self, number: int) -> str:
        """Parse a back reference of as many digits as there are groups so far; one to a missing or open group matches
        nothing.
        """
        while (digit := self.peek()) and digit in "0123456789" and number * 10 + int(digit) <= self._groups:
            number = number * 10 + int(digit)
            self.at += 1
        self._check_not_behind()
        if number > self._groups or number in self._open:
            return "(?!)"
        return rf"(?i:\{number})" if self.flags.ignore_case else rf"(?:\{number})"

    def _check_not_behind(self) -> None:
        if self._behind:
            raise PatternError("Look-behind group does not have an obvious maximum length")

    def _named_reference(self) -> str:
        name = self.match(_NAME) if self.take() == "<" else None
        if name is None or name.group(1) not in self._names:
            raise PatternError(f"named capturing group does not exist near index {self.at}")
        self._check_not_behind()
        if self._names[name.group(1)] in self._open:
            return "(?!)"
        return f"(?{'i' if self.flags.ignore_case else ''}:(?P={name.group(1)}))"


_OF_CASE = {
    "Lower",
    "Upper",
    "javaLowerCase",
    "javaUpperCase",
    "IsLowercase",
    "IsUppercase",
    "Lu",
    "Ll",
    "Lt",
    "IsLu",
    "IsLl",
}


def _refused(at: int) -> str:
    raise PatternError(f"Illegal escape sequence near index {at}")


def _without_quotes(pattern: str) -> str:
    r"""Return the pattern with the text between \Q and \E escaped."""
    parts = re.split(r"((?:^|(?<=[^\\]))(?:\\\\)*)\\Q", pattern, maxsplit=1)
    if len(parts) == 1:
        return pattern
    quoted, _, rest = parts[2].partition("\\E")
    made = "".join(char if char.isalnum() or not char.isascii() else f"\\{char}" for char in quoted)
    return f"{parts[0]}{parts[1]}{made}{_without_quotes(rest)}"
