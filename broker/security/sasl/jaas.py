"""`sasl.jaas.config`: one login module and its options, as Java's JAAS writes them (KIP-85).

    org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="p" user_a="p";

A broker takes the modules of Kafka's mechanisms that are served, and none else: in Java the name is a class that is
loaded (CVE-2023-25194 made it run what a client wanted). Options hold passwords; no error repeats the text.
"""

import re
from typing import NamedTuple

#: Module → mechanisms it is for.
MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": ("PLAIN",),
    "org.apache.kafka.common.security.scram.ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule": ("OAUTHBEARER",),
}
_FLAGS = ("required", "requisite", "sufficient", "optional")

#: As Java's StreamTokenizer cuts it: comments, quoted texts, words, single signs.
_TOKEN = re.compile(
    r"""(?P<skipped>\s+|//[^\n]*|/\*.*?\*/)
    |"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'
    |(?P<word>[\w.$\-\x80-\U0010ffff]+)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{2}|[0-7]{1,2}|.)", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class LoginModule(NamedTuple):
    name: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"LoginModule({self.name})"


def parse_jaas(text: str) -> LoginModule:
    """Return a module of those that a broker serves.

    Raises ValueError with a sentence that holds nothing of the text but the name of a module.
    """
    module = parse_login_module(text)
    if module.name not in MODULES:
        raise ValueError(f"names the login module {module.name:.100}; there are {', '.join(MODULES)}")
    return module


def parse_login_module(text: str) -> LoginModule:
    """Return the one module of `text`, whatever its class. Raises ValueError, whose sentence repeats nothing of it."""
    tokens = _tokens(text)
    end = tokens.index((";", True)) if (";", True) in tokens else -1
    if not tokens:
        raise ValueError("names no login module")
    if end < 0:
        raise ValueError("does not end with a semicolon")
    if end != len(tokens) - 1:
        raise ValueError("holds more than one login module")
    words = tokens[:end]
    if len(words) < 2 or words[0][1] or words[1][0].lower() not in _FLAGS:
        raise ValueError("has no control flag (required) after the login module")
    return LoginModule(words[0][0], _options(words[2:]))


def plain_users(module: LoginModule) -> dict[str, str]:
    """Name → password, of `user_<name>="password"`."""
    return {key.removeprefix("user_"): value for key, value in module.options.items() if key.startswith("user_")}


def _options(words: list[tuple[str, bool]]) -> dict[str, str]:
    options = {}
    for at in range(0, len(words), 3):
        key, *rest = words[at : at + 3]
        if key[1] or len(rest) != 2 or rest[0] != ("=", True) or rest[1][1]:
            raise ValueError('has an option that is not written as name="value"')
        options[key[0]] = rest[1][0]
    return options


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Return tokens, each with whether it is a sign, which a quoted one is not."""
    tokens: list[tuple[str, bool]] = []
    for match in _TOKEN.finditer(text):
        quoted = match["double"] if match["double"] is not None else match["single"]
        if quoted is not None:
            tokens.append((_ESCAPE.sub(_character, quoted), False))
        elif match["word"]:
            tokens.append((match["word"], False))
        elif match["sign"]:
            tokens.append((match["sign"], True))
    return tokens


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPES.get(code, code)
