"""What a person types as JSON to Avro's binary encoding; what does not fit is told with the path of its field. Pure.

Read as `avro_decoding` tells it: what was decoded can be produced again. A union takes the first branch that fits,
or the one that is named as in Avro's JSON encoding, {"string": "x"}.
"""

import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation

from broker.registry.avro.model import NO_DEFAULT, AvroField, AvroType
from console.cluster.schemas.avro_schema import DEPTH_MAX
from console.cluster.schemas.errors import NotEncodedError

#: Values that are tried: unions in unions try the same ones again and again.
TRIED_MAX = 200_000
_RANGES = {"int": 2**31, "long": 2**63}
#: A time of day lies before the day's end.
_TIMES_OF_DAY = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
#: As Avro's JSON encoding writes what JSON has no number for, and as Python does.
_NO_NUMBERS = {
    "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
    "nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"),
}  # fmt: skip
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class _Tries:
    def __init__(self) -> None:
        self._left = TRIED_MAX

    def count(self, path: str) -> None:
        self._left -= 1
        if self._left < 0:
            raise NotEncodedError(f"{path or 'the value'}: it holds too much to be tried")


def encode(type_: AvroType, value: object) -> bytes:
    """Raises NotEncodedError."""
    if type_.kind == "bytes":
        return _bytes_of(type_, value, "the value")
    return _encoded(type_, value, "", 0, _Tries())


def _encoded(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    tries.count(path)
    if depth > DEPTH_MAX:
        raise NotEncodedError(f"{path}: it is deeper than {DEPTH_MAX} levels")
    return _WRITERS[type_.kind](type_, value, path, depth, tries)


def _misfit(path: str, type_: AvroType, value: object) -> NotEncodedError:
    wanted = f"{type_.kind} ({type_.logical})" if type_.logical and type_.name is None else type_.label
    return NotEncodedError(f"{path or 'the value'}: {_kind_of(value)} is no {wanted}")


def _kind_of(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str | int | float):
        shown = repr(value) if not isinstance(value, str) else f"“{value}”"
        return shown if len(shown) <= 60 else f"{shown[:60]}…"
    return "an object" if isinstance(value, dict) else "a list"


def _record(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    if not isinstance(value, dict):
        raise _misfit(path, type_, value)
    known = {field.name for field in type_.fields}
    unknown = next((name for name in value if name not in known), None)
    if unknown is not None:
        raise NotEncodedError(f"{_below(path, unknown)}: {type_.label} has no such field")
    return b"".join(_field(field, value, path, depth, tries) for field in type_.fields)


def _field(wanted: AvroField, value: Mapping[str, object], path: str, depth: int, tries: _Tries) -> bytes:
    place = _below(path, wanted.name)
    if wanted.name in value:
        return _encoded(wanted.type, value[wanted.name], place, depth + 1, tries)
    if wanted.default is NO_DEFAULT:
        raise NotEncodedError(f"{place}: it is missing, and has no default")
    return _encoded(wanted.type, wanted.default, place, depth + 1, tries)


def _below(path: str, name: str) -> str:
    return f"{path}.{name[:100]}" if path else name[:100]


def _union(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    refused: list[NotEncodedError] = []
    for at, branch in enumerate(type_.inner):
        try:
            return _number(at) + _encoded(branch, value, path, depth + 1, tries)
        except NotEncodedError as error:
            refused.append(error)
    if isinstance(value, dict) and len(value) == 1:
        ((name, inner),) = value.items()
        for at, branch in enumerate(type_.inner):
            if name in (branch.label, branch.kind):
                return _number(at) + _encoded(branch, inner, path, depth + 1, tries)
    others = [error for branch, error in zip(type_.inner, refused, strict=True) if branch.kind != "null"]
    if len(others) == 1:
        raise others[0]
    names = ", ".join(offer.label for offer in type_.inner)
    raise NotEncodedError(f"{path or 'the value'}: {_kind_of(value)} fits none of {names}")


def _integer(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    number = _moment(type_, value) if isinstance(value, str) and type_.logical else value
    bound = _RANGES[type_.kind]
    if isinstance(number, bool) or not isinstance(number, int) or not -bound <= number < bound:
        raise _misfit(path, type_, value)
    if type_.logical in _TIMES_OF_DAY and not 0 <= number < _TIMES_OF_DAY[type_.logical]:
        raise _misfit(path, type_, value)
    return _number(number)


def _moment(type_: AvroType, text: str) -> int | None:
    """Return days, milliseconds or microseconds since 1970; None for other texts."""
    try:
        if type_.logical == "date":
            return (date.fromisoformat(text) - date(1970, 1, 1)).days
        if "timestamp" not in type_.logical:
            return None
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        past = moment - datetime(1970, 1, 1, tzinfo=UTC)
        micros = (past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds
        return micros if type_.logical.endswith("micros") else micros // 1_000
    except (ValueError, OverflowError):
        return None


def _floating(form: str) -> Callable[[AvroType, object, str, int, _Tries], bytes]:
    def write(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
        number = _NO_NUMBERS.get(value, value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise _misfit(path, type_, value)
        try:
            return struct.pack(form, number)
        except OverflowError:
            raise _misfit(path, type_, value) from None

    return write


def _bytes_of(type_: AvroType, value: object, path: str) -> bytes:
    if type_.logical == "decimal" and isinstance(value, str | int | float):
        return _decimal(type_, value, path)
    try:
        if isinstance(value, str):
            return value.encode("latin-1")
    except UnicodeEncodeError:
        raise NotEncodedError(f"{path}: bytes are typed as characters up to \\u00ff, one for each") from None
    raise _misfit(path, type_, value)


def _decimal(type_: AvroType, value: str | float, path: str) -> bytes:
    try:
        number = Decimal(str(value))
        sign, digits, exponent = number.as_tuple()
    except InvalidOperation:
        raise _misfit(path, type_, value) from None
    if not isinstance(exponent, int) or len(digits) + abs(exponent) > 100 or -exponent > type_.scale:
        raise _misfit(path, type_, value)
    precision = type_.properties.get("precision")
    count = len(digits) + exponent + type_.scale if number else 1
    if isinstance(precision, int) and precision > 0 and count > precision:
        where = path or "the value"
        raise NotEncodedError(
            f"{where}: with {type_.scale} decimals it has {count} digits, and at most {precision} fit"
        )
    whole = int("".join(map(str, digits))) * 10 ** (exponent + type_.scale) * (-1 if sign else 1)
    size = type_.size if type_.kind == "fixed" else (whole.bit_length() + 8) // 8
    try:
        return whole.to_bytes(size, signed=True)
    except OverflowError:
        raise _misfit(path, type_, value) from None


def _fixed(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    data = _bytes_of(type_, value, path)
    if len(data) != type_.size:
        raise NotEncodedError(f"{path or 'the value'}: {len(data)} bytes, and {type_.label} has {type_.size}")
    return data


def _enum(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    if value not in type_.symbols:
        shown = ", ".join(type_.symbols[:20])
        raise NotEncodedError(f"{path or 'the value'}: {_kind_of(value)} is none of {shown}")
    return _number(type_.symbols.index(str(value)))


def _array(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    if not isinstance(value, list):
        raise _misfit(path, type_, value)
    items = [_encoded(type_.inner[0], item, f"{path}[{at}]", depth + 1, tries) for at, item in enumerate(value)]
    return (_number(len(items)) + b"".join(items) if items else b"") + b"\0"


def _map(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    if not isinstance(value, dict):
        raise _misfit(path, type_, value)
    pairs = [
        _sized(name.encode(errors="replace")) + _encoded(type_.inner[0], item, _below(path, name), depth + 1, tries)
        for name, item in value.items()
    ]
    return (_number(len(pairs)) + b"".join(pairs) if pairs else b"") + b"\0"


def _null(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    if value is not None:
        raise _misfit(path, type_, value)
    return b""


def _boolean(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    if not isinstance(value, bool):
        raise _misfit(path, type_, value)
    return b"\1" if value else b"\0"


def _string(type_: AvroType, value: object, path: str, depth: int, tries: _Tries) -> bytes:
    if not isinstance(value, str) or (type_.logical == "uuid" and not _UUID.fullmatch(value)):
        raise _misfit(path, type_, value)
    return _sized(value.encode(errors="replace"))


def _sized(data: bytes) -> bytes:
    return _number(len(data)) + data


def _number(value: int) -> bytes:
    rest = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*encoded, rest])


_WRITERS: dict[str, Callable[[AvroType, object, str, int, _Tries], bytes]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _integer,
    "long": _integer,
    "float": _floating("<f"),
    "double": _floating("<d"),
    "bytes": lambda type_, value, path, depth, tries: _sized(_bytes_of(type_, value, path or "the value")),
    "string": _string,
    "fixed": _fixed,
    "record": _record,
    "error": _record,
    "union": _union,
    "enum": _enum,
    "array": _array,
    "map": _map,
}
