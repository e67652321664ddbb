"""LDAP messages as bytes and back (RFC 4511), by pyasn1: binds, searches, what is answered. Pure.

Imported when the first person logs in. A filter is made of values, never of text, so nothing that is typed can be
another filter than it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyasn1.codec.ber import decoder, encoder
from pyasn1.error import PyAsn1Error
from pyasn1.type import univ
from pyasn1_modules import rfc2251

SUCCESS, INVALID_CREDENTIALS, SIZE_LIMIT_EXCEEDED, NO_SUCH_OBJECT = 0, 49, 4, 32
#: What ends the answer to a bind, to a search, and to a request that LDAP was extended by.
BOUND, SEARCHED, EXTENDED = "bindResponse", "searchResDone", "extendedResp"
_START_TLS = b"1.3.6.1.4.1.1466.20037"
_VERSION = 3


class NotLdapError(Exception):
    """What came is no answer of a directory."""


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """`attributes` by their names in small letters."""

    dn: str
    attributes: dict[str, list[bytes]]

    def texts(self, name: str) -> list[str]:
        return [attribute.decode("utf-8", "replace") for attribute in self.attributes.get(name.lower(), [])]


@dataclass(frozen=True, slots=True)
class LdapResponse:
    """One message: an entry, or the end of what was asked for with its `code`; neither: what nobody asked for."""

    number: int
    kind: str
    entry: DirectoryEntry | None = None
    code: int | None = None


def bind(number: int, dn: str, password: str) -> bytes:
    """Raises ValueError without a password: that would prove nobody (RFC 4513, 5.1.2), and succeed."""
    if dn and not password:
        raise ValueError("a bind with a name has a password")
    operation = rfc2251.BindRequest()
    operation["version"] = _VERSION
    operation["name"] = dn.encode()
    operation["authentication"]["simple"] = password.encode()
    return _message(number, "bindRequest", operation)


def start_tls(number: int) -> bytes:
    operation = rfc2251.ExtendedRequest()
    operation["requestName"] = _START_TLS
    return _message(number, "extendedReq", operation)


def search(
    number: int,
    base: str,
    matches: Sequence[tuple[str, str]],
    also: tuple[str, str] | None,
    attributes: Sequence[str],
    *,
    most: int,
    seconds: int,
) -> bytes:
    """Encode a search below `base` for entries with any of `matches` (attribute, value), and `also`. Aliases are not
    followed.
    """
    operation = rfc2251.SearchRequest()
    operation["baseObject"] = base.encode()
    operation["scope"], operation["derefAliases"] = 2, 0
    operation["sizeLimit"], operation["timeLimit"], operation["typesOnly"] = most, seconds, False
    operation["filter"] = _filter(matches, also)
    operation["attributes"].extend(attribute.encode() for attribute in attributes)
    return _message(number, "searchRequest", operation)


def _filter(matches: Sequence[tuple[str, str]], also: tuple[str, str] | None) -> rfc2251.Filter:
    search_filter = rfc2251.Filter()
    both = search_filter["and"]
    for at, (attribute, value) in enumerate(matches):
        _equal(both[0]["or"][at], attribute, value)
    if also is not None:
        _equal(both[1], *also)
    return search_filter


def _equal(place: univ.Choice, attribute: str, value: str) -> None:
    place["equalityMatch"]["attributeDesc"] = attribute.encode()
    place["equalityMatch"]["assertionValue"] = value.encode()


def _message(number: int, name: str, operation: univ.Sequence) -> bytes:
    message = rfc2251.LDAPMessage()
    message["messageID"] = number
    message["protocolOp"].setComponentByName(name, operation)
    return bytes(encoder.encode(message))


def length_of(begun: bytes) -> int | None:
    """Return the length of the message that begins so; None if more bytes are needed. Raises NotLdapError."""
    if begun[:1] not in (b"", b"\x30"):
        raise NotLdapError("it does not speak LDAP")
    if len(begun) < 2:
        return None
    if begun[1] < 0x80:
        return 2 + begun[1]
    size = begun[1] & 0x7F
    if not 1 <= size <= 4:
        raise NotLdapError("it does not speak LDAP")
    return 2 + size + int.from_bytes(begun[2 : 2 + size]) if len(begun) >= 2 + size else None


def answer_of(whole: bytes) -> LdapResponse:
    """Raises NotLdapError."""
    try:
        message, _ = decoder.decode(whole, asn1Spec=rfc2251.LDAPMessage())
        kind, number = message["protocolOp"].getName(), int(message["messageID"])
        content = message["protocolOp"].getComponent()
        if kind == "searchResEntry":
            return LdapResponse(number, kind, entry=_entry(content))
        return LdapResponse(number, kind, code=int(content["resultCode"]) if kind in _ENDS else None)
    except (PyAsn1Error, ValueError, KeyError, IndexError, RecursionError) as error:
        raise NotLdapError("its answer cannot be read") from error


_ENDS = frozenset({BOUND, SEARCHED, EXTENDED})


def _entry(content: univ.Sequence) -> DirectoryEntry:
    attributes = {
        bytes(attribute["type"]).decode("ascii", "replace").lower(): [bytes(value) for value in attribute["vals"]]
        for attribute in content["attributes"]
    }
    return DirectoryEntry(bytes(content["objectName"]).decode("utf-8", "replace"), attributes)
