"""Numbers as Java reads and writes them: Integer, Long, Double, Float, BigDecimal and Boolean of the JDK. Pure."""

import math
import re
import struct
from collections.abc import Callable, Iterator
from decimal import Decimal

#: Longer whole numbers fit no type of Java's but BigInteger and BigDecimal, and cost the square of their length.
_DIGITS_MAX = 4_000
_INTEGER = re.compile(r"[+-]?\d+")
_FLOATING = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?", re.ASCII)
_HEXADECIMAL = re.compile(r"([+-]?0[xX](?:[\da-fA-F]+\.?[\da-fA-F]*|\.[\da-fA-F]+)[pP][+-]?\d+)[fFdD]?", re.ASCII)
_NAMED = re.compile(r"([+-]?)(NaN|Infinity)")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,10})?")
_FLOAT32 = struct.Struct(">f")
_INT32_MAX = (1 << 31) - 1
_FLOAT32_NORMAL_MIN = 2.0**-126


def trim(text: str) -> str:
    """Return the text without control characters and blanks around it: String.trim."""
    return text.strip("".join(map(chr, range(0x21))))


def parse_integer(text: str, bits: int) -> int:
    """Return the number of Byte.parseByte (8 bits), Short (16), Integer (32) or Long (64). Raises ValueError."""
    if not _INTEGER.fullmatch(text) or len(text) > _DIGITS_MAX or max(text) > "\uffff":
        raise ValueError(f"For input string: {text[:100]!r}")
    value, half = int(text), 1 << bits - 1
    if not -half <= value < half:
        raise ValueError(f"Value out of range of {bits} bits: {text[:100]}")
    return value


def parse_double(text: str) -> float:
    """Return the number of Double.parseDouble, infinite where it is too large. Raises ValueError."""
    return _parsed(text)[0]


def parse_float(text: str) -> float:
    """Return the number of Float.parseFloat, rounded once. Raises ValueError."""
    value, literal = _parsed(text)
    if literal and math.isfinite(value):
        exact = Decimal(literal)
        is_even = not struct.unpack(">Q", struct.pack(">d", value))[0] & 1
        if is_even and exact != Decimal(value):
            # A double that says on which side of it the exact number is: the second rounding then errs no more.
            value = math.nextafter(value, math.inf if exact > Decimal(value) else -math.inf)
    return to_float32(value)


def _parsed(text: str) -> tuple[float, str]:
    """Return the double, and the decimal literal that it was read from, empty for another."""
    trimmed = trim(text)
    if match := _FLOATING.fullmatch(trimmed):
        return float(match.group(1)), match.group(1)
    if match := _NAMED.fullmatch(trimmed):
        return float(match.group(1) + match.group(2)), ""
    if match := _HEXADECIMAL.fullmatch(trimmed):
        try:
            return float.fromhex(match.group(1)), ""
        except OverflowError:
            return (-math.inf if trimmed[0] == "-" else math.inf), ""
    raise ValueError(f"For input string: {text[:100]!r}")


def parse_decimal(text: str) -> Decimal:
    """Return the number of `new BigDecimal(text)`, with its scale. Raises ValueError."""
    if not _DECIMAL.fullmatch(text) or max(text) > "\uffff":
        raise ValueError(f"No decimal number: {text[:100]!r}")
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -_INT32_MAX <= exponent <= _INT32_MAX + 1:
        raise ValueError(f"No decimal number of such a scale: {text[:100]!r}")
    return value.copy_abs() if value.is_zero() else value


def parse_boolean(text: str) -> bool:
    """Return Boolean.parseBoolean: whether the text is "true", in any case."""
    return text.lower() == "true"


def integer_of(value: float | Decimal) -> int:
    """Return the number without its fraction, as Java's narrowing; what is no number is 0. Raises OverflowError."""
    return 0 if value != value else int(value)


def double_of(value: float | Decimal) -> float:
    """Return `doubleValue()` of a number. Raises OverflowError where it is too large."""
    return float(value)


def decimal_of_number(value: float | Decimal) -> Decimal:
    """Return the decimal that a number's own text is read as: BigDecimal.valueOf."""
    return Decimal(str(value))


def is_nonzero(value: float | Decimal) -> bool:
    """Return whether `longValue()` of a number is another than 0."""
    if isinstance(value, float) and not math.isfinite(value):
        return value == value
    return int(value) & (1 << 64) - 1 != 0 if isinstance(value, Decimal) else int(value) != 0


def to_float32(value: float) -> float:
    """Return the nearest number of 32 bits, infinite where there is none: Java's `(float) value`."""
    try:
        return float(_FLOAT32.unpack(_FLOAT32.pack(value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def double_text(value: float) -> str:
    """Return Double.toString of JDK 19 and later: the shortest text that is read as the same number (JDK-4511638)."""
    magnitude = abs(value)
    if not math.isfinite(magnitude):
        return _named(value)
    return _text(value, _with_two_digits(magnitude, repr(magnitude), parse_double))


def float_text(value: float) -> str:
    """Return Float.toString of JDK 19 and later, of the nearest number of 32 bits."""
    value = to_float32(value)
    magnitude = abs(value)
    if not math.isfinite(magnitude):
        return _named(value)
    # Six digits are kept by every number that is not close to 0: a shorter text is one of them with zeros.
    fewest = 5 if magnitude >= _FLOAT32_NORMAL_MIN else 0
    candidates = (text for digits in range(fewest, 9) for text in _nearest(magnitude, digits))
    shortest = next(text for text in candidates if to_float32(float(text)) == magnitude)
    return _text(value, _with_two_digits(magnitude, shortest, parse_float))


def _named(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _nearest(magnitude: float, digits: int) -> Iterator[str]:
    """Yield the nearest text of so many digits behind the first, and the next one on the other side."""
    nearest = f"{magnitude:.{digits}e}"
    yield nearest
    step = Decimal(1).scaleb(Decimal(nearest).adjusted() - digits)
    other = Decimal(nearest) + (step if Decimal(nearest) < Decimal(magnitude) else -step)
    yield f"{other:.{digits}e}"


def _with_two_digits(magnitude: float, shortest: str, parse: Callable[[str], float]) -> str:
    """Return at least two digits as Java writes them, the nearest of two: 4.9E-324."""
    nearest = f"{magnitude:.1e}"
    is_single = len(Decimal(shortest).normalize().as_tuple().digits) == 1
    return nearest if is_single and parse(nearest) == magnitude else shortest


def _text(value: float, shortest: str) -> str:
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    number = Decimal(shortest)
    if number.is_zero():
        return f"{sign}0.0"
    digits = "".join(map(str, number.normalize().as_tuple().digits))
    point = number.adjusted() + 1
    if not -3 < point <= 7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
    plain = digits.ljust(point, "0") if point > 0 else "0" * (1 - point) + digits
    at = max(point, 1)
    return f"{sign}{plain[:at]}.{plain[at:] or '0'}"


def decimal_text(value: Decimal) -> str:
    """Return BigDecimal.toString; a zero has no sign there."""
    return str(value.copy_abs() if value.is_zero() else value)
