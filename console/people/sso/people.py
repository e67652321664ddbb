"""How somebody whom a provider knows is called here. Pure.

`sso:alice`: no account of our own has a colon in its name, so neither can be taken for the other, nor taken over. Only
ASCII, as with our own: no letter of another script can pass for one of these.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from console.people.sso.claims import claim, groups_in

#: What a page and the audit show in a line.
_NAME_LENGTH_MAX = 60
_SHOWN_LENGTH_MAX = 150
_ODD = re.compile(r"[^A-Za-z0-9.@+-]+")
NOBODY = "person"


@dataclass(frozen=True, slots=True)
class Person:
    """The person of an ID token, identified by issuer and `subject`; other fields may change."""

    subject: str
    name: str
    shown_name: str
    groups: frozenset[str]


def person_of(claims: Mapping[str, object], name_claim: str, groups_claim: str) -> Person:
    """Raises LoginRefusedError if the groups are not told in full."""
    subject = str(claims["sub"])
    value = claim(claims, name_claim)
    name = value if isinstance(value, str) else ""
    full = claims.get("name")
    shown = printable(full) if isinstance(full, str) else ""
    return Person(subject, plain_name(name), shown or printable(name), groups_in(claims, groups_claim))


def usernames(provider: str, name: str) -> Iterator[str]:
    """Yield user names until a free one is found: `sso:alice`, `sso:alice-2`, …; without end."""
    yield f"{provider}:{name}"
    number = 2
    while True:
        yield f"{provider}:{name}-{number}"
        number += 1


def plain_name(text: str) -> str:
    """Return a plain name: accents are dropped, other non-ASCII characters become `_`; never empty."""
    bare = unicodedata.normalize("NFKD", text[: 4 * _NAME_LENGTH_MAX])
    ascii_only = "".join(name for name in bare if not unicodedata.combining(name))
    return _ODD.sub("_", ascii_only).strip("_")[:_NAME_LENGTH_MAX] or NOBODY


def printable(text: str) -> str:
    """Remove invisible characters and those that change the writing direction."""
    seen = "".join(name if name.isprintable() else " " for name in text[: 2 * _SHOWN_LENGTH_MAX])
    return " ".join(seen.split())[:_SHOWN_LENGTH_MAX]
