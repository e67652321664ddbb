"""Reads a pattern in the syntax of RE2 into a tree. Pure.

Only what a topic can be called is told apart, so a class is the set of such letters in it, and multi-line and lazy
matching make no difference: the whole name has to match, and has no line ends.
"""

import re
import string
import unicodedata
from dataclasses import dataclass, field

#: Letters that names of topics are made of.
ALPHABET = frozenset(string.ascii_letters + string.digits + "._-")
WORD = frozenset(string.ascii_letters + string.digits + "_")
_DIGITS = frozenset(string.digits)
_DEPTH_MAX = 100
_REPEATED_MAX = 1_000  #: RE2's
_PERL = {"d": _DIGITS, "w": WORD & ALPHABET, "s": frozenset[str]()}
_POSIX = {
    "alnum": frozenset(string.ascii_letters + string.digits),
    "alpha": frozenset(string.ascii_letters),
    "ascii": ALPHABET,
    "blank": frozenset[str](),
    "cntrl": frozenset[str](),
    "digit": _DIGITS,
    "graph": ALPHABET,
    "lower": frozenset(string.ascii_lowercase),
    "print": ALPHABET,
    "punct": frozenset("._-"),
    "space": frozenset[str](),
    "upper": frozenset(string.ascii_uppercase),
    "word": WORD & ALPHABET,
    "xdigit": frozenset(string.hexdigits),
}
_CONTROL = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_BOUNDARIES = {"A": "start", "z": "end", "b": "boundary", "B": "no boundary"}
_FLAGS = re.compile(r"\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_COUNTED = re.compile(r"\{(\d+)(?:(,)(\d*))?\}", re.ASCII)
_HEX = re.compile(r"\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2})")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{2}|[1-7][0-7](?=[0-7])")
_CATEGORY = re.compile(r"\{(\^?)(\w+)\}|([A-Z])", re.ASCII)


class Re2Error(ValueError):
    """The pattern is none of RE2's; the message says why."""


@dataclass(frozen=True, slots=True)
class Letters:
    """One letter of these."""

    letters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Assertion:
    """Nothing, at a place of this kind: start, end, boundary, no boundary."""

    kind: str


@dataclass(frozen=True, slots=True)
class Concatenation:
    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    choices: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    part: "Node"
    at_least: int
    at_most: int | None  #: None: as often as there is something


Node = Letters | Assertion | Concatenation | Alternatives | Repeated
EMPTY = Concatenation(())


@dataclass(slots=True)
class PatternParser:
    """`parse` reads the pattern once."""

    pattern: str
    at: int = 0
    ignores_case: bool = False
    _depth: int = 0
    _names: set[str] = field(default_factory=set)

    def parse(self) -> Node:
        """Return the tree. Raises Re2Error."""
        node = self._alternatives()
        if self.at < len(self.pattern):
            raise Re2Error("unexpected )")
        return node

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _alternatives(self) -> Node:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise Re2Error("expression nests too deeply")
        ignores_case, choices = self.ignores_case, [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            choices.append(self._sequence())
        self._depth -= 1
        self.ignores_case = ignores_case
        return choices[0] if len(choices) == 1 else Alternatives(tuple(choices))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while (letter := self._peek()) and letter not in "|)":
            if letter == "\\" and self.pattern.startswith("\\Q", self.at):
                parts += self._quoted()
                continue
            part = self._atom()
            if part is not None:
                parts.append(part)
            self._repeat_last(parts, is_repeatable=part is not None)
        return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))

    def _quoted(self) -> list[Node]:
        """Return the letters between \\Q and \\E, of which the last may be repeated."""
        end = self.pattern.find("\\E", self.at + 2)
        text = self.pattern[self.at + 2 : end if end >= 0 else None]
        self.at = end + 2 if end >= 0 else len(self.pattern)
        parts: list[Node] = [self._literal(letter) for letter in text]
        self._repeat_last(parts, is_repeatable=bool(parts))
        return parts

    # -- repetition ---------------------------------------------------------------------------------------------------

    def _repeat_last(self, parts: list[Node], *, is_repeatable: bool) -> None:
        begin, operator = self.at, self._operator()
        if operator is None:
            return
        if not is_repeatable:
            raise Re2Error(f"missing argument to repetition operator: {self.pattern[begin : self.at]}")
        parts[-1] = Repeated(parts[-1], *operator)
        if self._operator() is not None:
            raise Re2Error(f"invalid nested repetition operator: {self.pattern[begin : self.at]}")

    def _operator(self) -> tuple[int, int | None] | None:
        """Read a repetition and whether it is lazy; None, and nothing read, if there is none here."""
        letter = self._peek()
        bounds: tuple[int, int | None]
        if letter and letter in "*+?":
            self.at += 1
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[letter]
        elif counted := _COUNTED.match(self.pattern, self.at):
            least = int(counted[1])
            most = least if counted[2] is None else int(counted[3]) if counted[3] else None
            self.at = counted.end()
            if max(least, most or 0) > _REPEATED_MAX or (most is not None and most < least):
                raise Re2Error(f"invalid repetition count: {counted[0]}")
            bounds = least, most
        else:
            return None
        if self._peek() == "?":
            self.at += 1
        return bounds

    # -- atoms --------------------------------------------------------------------------------------------------------

    def _atom(self) -> Node | None:
        """Return what is repeated if a repetition follows; None for flags, which are nothing."""
        letter = self._peek()
        self.at += 1
        match letter:
            case "(":
                return self._group()
            case "[":
                return Letters(self._class())
            case ".":
                return Letters(ALPHABET)
            case "^":
                return Assertion("start")
            case "$":
                return Assertion("end")
            case "\\":
                return self._escaped()
            case "*" | "+" | "?":
                raise Re2Error(f"missing argument to repetition operator: {letter}")
            case _:
                return self._literal(letter)

    def _group(self) -> Node | None:
        ignores_case = self.ignores_case
        if self._peek() == "?":
            if named := _NAMED.match(self.pattern, self.at):
                if named[1] in self._names:
                    raise Re2Error(f"duplicate capture group name: {named[1]}")
                self._names.add(named[1])
                self.at = named.end()
            elif flags := _FLAGS.match(self.pattern, self.at):
                self.at = flags.end()
                self.ignores_case = ("i" in flags[1] or ignores_case) and "i" not in (flags[2] or "")
                if flags[3] == ")":
                    return None
            else:
                raise Re2Error(f"invalid or unsupported Perl syntax: ({self.pattern[self.at : self.at + 2]}")
        inner = self._alternatives()
        if self._peek() != ")":
            raise Re2Error("missing closing )")
        self.at += 1
        self.ignores_case = ignores_case
        return inner

    def _literal(self, letter: str) -> Letters:
        return Letters(self._in_both_cases({letter}) & ALPHABET)

    def _in_both_cases(self, letters: set[str] | frozenset[str]) -> frozenset[str]:
        if not self.ignores_case:
            return frozenset(letters)
        return frozenset(other for letter in letters for other in (letter, letter.lower(), letter.upper()))

    def _escaped(self) -> Node:
        letter = self._peek()
        if letter in _BOUNDARIES and letter:
            self.at += 1
            return Assertion(_BOUNDARIES[letter])
        if letter == "C":
            self.at += 1
            return Letters(ALPHABET)
        letters = self._escaped_class()
        return Letters(letters) if letters is not None else self._literal(self._escaped_letter())

    def _escaped_class(self) -> frozenset[str] | None:
        """Read \\d, \\pL and the like behind the backslash; None, and nothing read, if there is none here."""
        letter = self._peek()
        if letter and letter.lower() in _PERL:
            self.at += 1
            letters = _PERL[letter.lower()]
            return letters if letter.islower() else ALPHABET - letters
        if letter in ("p", "P") and letter:
            category = _CATEGORY.match(self.pattern, self.at + 1)
            if category is None:
                raise Re2Error("invalid character class range: \\p")
            self.at = category.end()
            letters = self._in_both_cases(_of_category(category[2] or category[3])) & ALPHABET
            is_negated = (letter == "P") != bool(category[1])
            return ALPHABET - letters if is_negated else letters
        return None

    def _escaped_letter(self) -> str:
        """Read one letter behind a backslash."""
        letter = self._peek()
        if octal := _OCTAL.match(self.pattern, self.at):
            self.at = octal.end()
            return chr(int(octal[0], 8))
        if letter == "x" and (number := _HEX.match(self.pattern, self.at + 1)):
            self.at = number.end()
            if (code := int(number[1] or number[2], 16)) > 0x10FFFF:
                raise Re2Error(f"invalid escape sequence: \\x{number[0]}")
            return chr(code)
        self.at += 1
        if letter in _CONTROL and letter:
            return _CONTROL[letter]
        if not letter:
            raise Re2Error("trailing backslash at end of expression")
        if letter.isalnum() or ord(letter) >= 128:
            raise Re2Error(f"invalid escape sequence: \\{letter}")
        return letter

    # -- classes ------------------------------------------------------------------------------------------------------

    def _class(self) -> frozenset[str]:
        """Read a class behind its opening bracket."""
        begin, letters = self.at - 1, set[str]()
        is_negated = self._peek() == "^"
        self.at += is_negated
        is_first = True
        while is_first or self._peek() != "]":
            if self.at >= len(self.pattern):
                raise Re2Error(f"missing closing ]: {self.pattern[begin:]}")
            letters |= self._class_part()
            is_first = False
        self.at += 1
        chosen = self._in_both_cases(letters) & ALPHABET
        return ALPHABET - chosen if is_negated else chosen

    def _class_part(self) -> frozenset[str] | set[str]:
        if self.pattern.startswith("[:", self.at) and (end := self.pattern.find(":]", self.at)) >= 0:
            name = self.pattern[self.at + 2 : end]
            if name.removeprefix("^") not in _POSIX:
                raise Re2Error(f"invalid character class range: [:{name}:]")
            self.at = end + 2
            letters = _POSIX[name.removeprefix("^")]
            return ALPHABET - letters if name.startswith("^") else letters
        if self._peek() == "\\" and self.pattern[self.at + 1 : self.at + 2] in tuple("dDwWsSpP"):
            self.at += 1
            return self._escaped_class() or frozenset()
        first = self._class_letter()
        if self._peek() != "-" or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
            return {first}
        self.at += 1
        last = self._class_letter()
        if last < first:
            raise Re2Error(f"invalid character class range: {first}-{last}")
        return {letter for letter in ALPHABET if first <= letter <= last}

    def _class_letter(self) -> str:
        letter = self._peek()
        self.at += 1
        return self._escaped_letter() if letter == "\\" else letter


def _of_category(name: str) -> frozenset[str]:
    """Return the letters of a Unicode category or script. Raises Re2Error for one that there is not."""
    if name in ("Any", "L", "M", "N", "P", "S", "Z", "C"):
        return frozenset(x for x in ALPHABET if name == "Any" or unicodedata.category(x).startswith(name))
    if len(name) == 2 and name[0] in "LMNPSZC":
        return frozenset(x for x in ALPHABET if unicodedata.category(x) == name)
    if name == "Latin":
        return frozenset(string.ascii_letters)
    if name == "Common":
        return ALPHABET - frozenset(string.ascii_letters)
    if name.isalpha() and len(name) > 3:  # another script: no name of a topic has a letter of it
        return frozenset()
    raise Re2Error(f"invalid character class range: \\p{{{name}}}")
