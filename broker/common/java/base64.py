"""Base64 as Java's decoders read it: java.util.Base64 and Jackson's default variant. Pure."""

import base64
import re

_BLANKS = re.compile(r"[\x00- ]+")
_DIGITS = re.compile(r"[A-Za-z0-9+/]*={0,2}", re.ASCII)


def decode_base64(text: str) -> bytes:
    """Return the bytes of Base64.getDecoder(): padding may be left out, blanks may not be there. Raises ValueError."""
    digits = text.rstrip("=") if _DIGITS.fullmatch(text) else ""
    padding = len(text) - len(digits)
    if (not digits and text) or len(digits) % 4 == 1 or padding not in (0, -len(digits) % 4):
        raise ValueError(f"no Base64: {text[:100]!r}")
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def decode_jackson(text: str) -> bytes:
    """Return the bytes of Jackson's MIME variant: blanks between groups of four, padding must be there.

    Raises ValueError.
    """
    parts = _BLANKS.split(text)
    if any(len(part) % 4 for part in parts):
        raise ValueError(f"no Base64: {text[:100]!r}")
    return decode_base64("".join(parts))
