"""The value of a znode as a person reads it: JSON with its lines, text, or bytes. Pure."""

import json
from dataclasses import dataclass

from console.cluster.zookeeper.masking import mask_secrets
from console.kit.common.foreign_json import parse_foreign_json

#: Beyond it the page shows the beginning and says so.
TEXT_LENGTH_MAX = 64 * 1024
HEX_BYTES_MAX = 8 * 1024
_BYTES_PER_LINE = 16
FORMS = ("json", "text", "hex")


@dataclass(frozen=True, slots=True)
class ShownValue:
    """`forms` are those the value can be read in, `form` the one that `text` is."""

    text: str
    form: str
    forms: tuple[str, ...]
    is_cut: bool = False
    #: What was taken out because it is secret.
    masked: tuple[str, ...] = ()
    #: The decoded JSON of what may be shown, None if it is none.
    decoded: object = None


def show_value(path: str, value: bytes, wanted: str = "") -> ShownValue:
    """Return a value to show; secrets are removed first. Without `wanted` the most readable form is taken."""
    masked = mask_secrets(path, value)
    if masked.value is None:
        return ShownValue("", "", (), masked=masked.names)
    decoded, text = _decode(masked.value)
    can_be = {"json": decoded is not None, "text": text is not None, "hex": True}
    forms = tuple(form for form in FORMS if can_be[form])
    form = wanted if wanted in forms else forms[0]
    whole = _in_form(form, masked.value, text or "", decoded)
    limit = TEXT_LENGTH_MAX
    is_cut = len(whole) > limit or (form == "hex" and len(masked.value) > HEX_BYTES_MAX)
    return ShownValue(whole[:limit], form, forms, is_cut, masked.names, decoded)


def _decode(value: bytes) -> tuple[object, str | None]:
    """Return its JSON if it is an object or a list, and its text if it is readable at all."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None, None
    if not all(name.isprintable() or name in "\n\r\t" for name in text):
        return None, None
    try:
        decoded = parse_foreign_json(text)
    except (ValueError, RecursionError):
        return None, text
    return (decoded if isinstance(decoded, dict | list) else None), text


def _in_form(form: str, value: bytes, text: str, decoded: object) -> str:
    if form == "json":
        return json.dumps(decoded, indent=2, ensure_ascii=False)
    return text if form == "text" else hex_lines(value[:HEX_BYTES_MAX])


def hex_lines(value: bytes) -> str:
    """Offset, sixteen bytes, and what of them is a printable character of ASCII."""
    lines = []
    for at in range(0, len(value), _BYTES_PER_LINE):
        part = value[at : at + _BYTES_PER_LINE]
        readable = "".join(chr(number) if 32 <= number < 127 else "." for number in part)
        lines.append(f"{at:08x}  {part.hex(' '):<{3 * _BYTES_PER_LINE - 1}}  {readable}")
    return "\n".join(lines)
