"""`ssl.principal.mapping.rules`: turns a certificate's long name into a user name (KIP-371).

    RULE:^CN=([^,]+),OU=ops.*$/$1/L, DEFAULT

The first rule whose pattern is the whole name counts. Patterns are Java's. A rule that cannot be read is refused at the
start, not when somebody connects.
"""

import re
from dataclasses import dataclass

from broker.common.errors import BarnabasError
from broker.common.java.patterns import compile_pattern

_RULE = re.compile(r"RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?)", re.DOTALL)
_NAMED = re.compile(r"\$\{([A-Za-z][A-Za-z0-9]*)\}")
_SEPARATOR = re.compile(r"\s*(?:,\s*|$)")
_DEFAULT = "DEFAULT"


class NoRuleMatches(BarnabasError):
    """No rule matches the name, so it has no principal."""


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    #: Texts, and numbers of groups.
    replacement: tuple[str | int, ...]
    case: str

    def apply(self, name: str) -> str | None:
        if not self.pattern.fullmatch(name):
            return None
        mapped = self.pattern.sub(self._replace, name)
        return mapped.lower() if self.case == "L" else mapped.upper() if self.case == "U" else mapped

    def _replace(self, match: re.Match[str]) -> str:
        return "".join(name if isinstance(name, str) else match[name] or "" for name in self.replacement)


class PrincipalRules:
    """Read from the key's value; ValueError with one sentence."""

    def __init__(self, text: str = _DEFAULT):
        #: None stands for DEFAULT: the name as it is.
        self._rules: list[_Rule | None] = []
        at, text = 0, text.strip()
        while at < len(text):
            at = self._read(text, at)

    def _read(self, text: str, at: int) -> int:
        match = _RULE.match(text, at)
        end = match.end() if match else at + len(_DEFAULT) * text.startswith(_DEFAULT, at)
        separator = _SEPARATOR.match(text, end)
        if separator is None:
            raise ValueError(f"ssl.principal.mapping.rules: invalid rule: {text[at:]}")
        if match:
            self._rules.append(_rule(*match.groups()))
        elif end > at:
            self._rules.append(None)
        return separator.end()

    def user_of(self, name: str) -> str:
        """Raises NoRuleMatches."""
        for rule in self._rules:
            mapped = name if rule is None else rule.apply(name)
            if mapped is not None:
                return mapped
        raise NoRuleMatches(f"no rule of ssl.principal.mapping.rules matches the certificate's name {name}")


def _rule(pattern: str, replacement: str, case: str) -> _Rule:
    try:
        compiled = compile_pattern(pattern)
    except ValueError as error:
        raise ValueError(f"ssl.principal.mapping.rules: {pattern} cannot be read: {error}") from None
    return _Rule(compiled, tuple(_parts(replacement, compiled)), case)


def _parts(replacement: str, pattern: re.Pattern[str]) -> list[str | int]:
    """Parse a replacement as Java's Matcher does: `$12` is group 12, or group 1 and a 2 if there are fewer, `${name}`
    is a named one; Kafka takes a number beyond all groups for text.
    """
    parts: list[str | int] = []
    at, groups = 0, pattern.groups
    while at < len(replacement):
        letter = replacement[at]
        number = re.compile(r"\d+", re.ASCII).match(replacement, at + 1) if letter == "$" else None
        if number:
            digits = number[0]
            while len(digits) > 1 and int(digits) > groups:
                digits = digits[:-1]
            if not groups and int(digits):
                raise ValueError(f"ssl.principal.mapping.rules: {replacement} names a group, and there is none")
            parts.append(int(digits) if int(digits) <= groups else f"${digits}")
            at += 1 + len(digits)
        elif (named := _NAMED.match(replacement, at)) and named[1] in pattern.groupindex:
            parts.append(pattern.groupindex[named[1]])
            at = named.end()
        elif letter == "$" or (letter == "\\" and at + 1 == len(replacement)):
            raise ValueError(f"ssl.principal.mapping.rules: {replacement} has a {letter} that stands for nothing")
        else:
            escaped = letter == "\\"
            parts.append(replacement[at + escaped])
            at += 1 + escaped
    return parts
