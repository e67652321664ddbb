"""Where a text has a secret: the password of an address, a parameter, a header, a private key. Pure.

Each search is bounded, so that no value takes long, whatever a worker answers.
"""

import re
from collections.abc import Iterator

_SCHEME = re.compile(r"\b[a-zA-Z][\w+-]{0,30}://")
#: An address may hold a token of some kilobytes as its password.
_ADDRESS_LENGTH_MAX = 4_096
_AUTHORITY_END = re.compile(r"[\s\"'<>]")
#: A port with a path or a query behind it, and not the beginning of a password.
_PORT = re.compile(r"\d{1,5}[/?]")
#: Before an @ without a colon there is a user's name, or, if it is long, a token.
_TOKEN_LENGTH_MIN = 20

_NAME = (
    r"pass(?:word|wd|phrase)|pwd|secret|token|api[._-]?key|access[._-]?key|account[._-]?key|private[._-]?key"
    r"|signature|credential|authorization"
)
_PATTERNS = (
    # Of a query, of a driver's options, of a JAAS line.
    re.compile(
        rf"(?:^|[?&;,\s])[\w.-]{{0,60}}?(?:{_NAME})\s{{0,3}}=\s{{0,3}}(?P<secret>[^&;\s\"']{{1,500}})", re.IGNORECASE
    ),
    # Of the signed addresses of clouds, and keys of web services.
    re.compile(r"[?&](?:sig|key|auth)=(?P<secret>[^&\s\"']{8,500})", re.IGNORECASE),
    # Of JSON.
    re.compile(
        rf"[\"'][\w.-]{{0,60}}?(?:{_NAME})[\w-]{{0,20}}[\"']\s{{0,3}}:\s{{0,3}}[\"'](?P<secret>[^\"']{{1,4000}})",
        re.IGNORECASE,
    ),
    # Of HTTP headers, alone or in a list.
    re.compile(
        r"(?:^|[\s,|;])(?:[\w-]{0,40}(?:api-?key|token|secret)|(?:proxy-)?authorization|cookie)\s{0,3}:\s{0,3}"
        r"(?P<secret>[^\s,|;][^,|;\r\n]{0,4000})",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:Bearer|Basic)\s{1,3}(?P<secret>[A-Za-z0-9+/=._~-]{8,4000})"),
    re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?P<secret>[^-]{1,20000})"),
    re.compile(r"\bjdbc:oracle:\w{1,10}:[^\s/@]{1,200}/(?P<secret>[^\s@]{1,300})@"),
    re.compile(
        r"https://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks|[\w.-]{1,100}\.webhook\.office\.com)/"
        r"(?P<secret>[^\s\"']{8,500})"
    ),
)


def secret_places(text: str) -> list[tuple[int, int]]:
    """Begin and end of each secret, in order; none is within another."""
    spans = sorted(
        {*_in_addresses(text), *(match.span("secret") for pattern in _PATTERNS for match in pattern.finditer(text))}
    )
    places: list[tuple[int, int]] = []
    for start, end in spans:
        if places and start < places[-1][1]:
            places[-1] = places[-1][0], max(end, places[-1][1])
        else:
            places.append((start, end))
    return places


def _in_addresses(text: str) -> Iterator[tuple[int, int]]:
    schemes = list(_SCHEME.finditer(text))
    ends = [*(scheme.start() for scheme in schemes[1:]), len(text)]
    for scheme, following in zip(schemes, ends, strict=False):
        begin = scheme.end()
        end = min(begin + _ADDRESS_LENGTH_MAX, following)
        if stop := _AUTHORITY_END.search(text, begin, end):
            end = stop.start()
        place = _password_of(text[begin:end])
        if place is not None:
            yield begin + place[0], begin + place[1]


def _password_of(address: str) -> tuple[int, int] | None:
    """Begin and end of what stands before the @ of an address, behind its scheme, and is a password or a token.

    A password may have a slash or an @ that should have been escaped: drivers take it all the same.
    """
    authority = re.split(r"[/?]", address, maxsplit=1)[0]
    at = authority.rfind("@")
    if at < 0:
        at = address.partition("?")[0].rfind("@")
    user, colon, password = address[: max(at, 0)].partition(":")
    if at < 0 or re.search(r"[/?]", user):
        return None
    if not colon:
        return (0, at) if at >= _TOKEN_LENGTH_MIN else None
    return None if not password or _PORT.match(password) else (len(user) + 1, at)
