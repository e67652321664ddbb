"""The name a certificate gives its owner, as Java writes it: ACLs and mapping rules are written for that.

`X500Principal.getName()` is RFC 2253 as the JDK reads it: the last part first, no blanks between, few keywords. Any
other attribute is its number and the hexadecimal DER of its value (`1.2.840.113549.1.9.1=#1605…`), where RFC 4514
writers, as that of `cryptography`, put the text.
"""

from collections.abc import Iterator

_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_SEQUENCE, _SET, _OBJECT_IDENTIFIER = 0x30, 0x31, 0x06
#: UTF8String, PrintableString, T61String, IA5String, GeneralString, UniversalString, BMPString: UTF-8, Java says.
_TEXTS = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1C, 0x1E})
_ESCAPED = frozenset(',=+<>#;"\\')
_EDGE_BLANKS = " \r"


def java_name(der: bytes) -> str:
    """Format a DER-encoded Name (RFC 5280 section 4.1.2.4) as Java does; empty if it has no parts.

    ValueError if it is invalid.
    """
    parts = [_relative_name(body) for body in _elements(_only(der, _SEQUENCE), _SET)]
    return ",".join(reversed(parts))


def _relative_name(der: bytes) -> str:
    return "+".join(_attribute(body) for body in _elements(der, _SEQUENCE))


def _attribute(der: bytes) -> str:
    tag, identifier, at = _element(der, 0)
    value = der[at:]
    value_tag, body, end = _element(value, 0)
    if tag != _OBJECT_IDENTIFIER or end != len(value):
        raise ValueError("an attribute of a name is not a number and a value")
    number = _dotted(identifier)
    keyword = _KEYWORDS.get(number)
    if keyword is None or value_tag not in _TEXTS:
        return f"{keyword or number}=#{value.hex()}"
    return f"{keyword}={_escaped(body.decode())}"


def _escaped(text: str) -> str:
    """Escape a value of a name; the JDK also escapes what RFC 2253 leaves alone, a `#` in the middle for one."""
    lead = len(text) - len(text.lstrip(_EDGE_BLANKS))
    trail = len(text.rstrip(_EDGE_BLANKS))
    letters = []
    for at, letter in enumerate(text):
        is_at_edge = at < lead or at >= trail
        letters.append(f"\\{letter}" if letter in _ESCAPED or is_at_edge else letter)
    return "".join(letters).replace("\0", "\\00")


def _dotted(identifier: bytes) -> str:
    """Return an object identifier in dotted form (X.690 section 8.19)."""
    numbers, number = [], 0
    for byte in identifier:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    if not numbers or identifier[-1] & 0x80:
        raise ValueError("an attribute of a name has no whole number")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _only(der: bytes, wanted: int) -> bytes:
    bodies = list(_elements(der, wanted))
    if len(bodies) != 1:
        raise ValueError("not one element but several")
    return bodies[0]


def _elements(der: bytes, wanted: int) -> Iterator[bytes]:
    at = 0
    while at < len(der):
        tag, body, at = _element(der, at)
        if tag != wanted:
            raise ValueError(f"tag {tag} where {wanted} belongs")
        yield body


def _element(der: bytes, at: int) -> tuple[int, bytes, int]:
    """Tag and body of the element at `at`, and where the next begins. DER knows one form of each length."""
    if at + 2 > len(der):
        raise ValueError("a name ends too early")
    tag, size = der[at], der[at + 1]
    at += 2
    if size >= 0x80:
        width = size & 0x7F
        size = int.from_bytes(der[at : at + width])
        at += width
        if not 1 <= width <= 4 or size < 0x80:
            raise ValueError("a name has a length that cannot be read")
    if at + size > len(der):
        raise ValueError("a name ends too early")
    return tag, der[at : at + size], at + size
