"""Whether a default fits its type, as Schema.isValidDefault of Avro 1.12 says it. Pure."""

import math
import re
from typing import Any

from broker.common.limits import REGISTRY_COMPARISON_STEPS_MAX
from broker.registry.avro.model import NO_DEFAULT, AvroType
from broker.registry.errors import InvalidSchema

_INT, _LONG = 2**31, 2**63
#: As Double.valueOf reads a text.
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d{1,4}[fFdD]?", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII)


def default_of(type_: AvroType, default: Any) -> Any:
    """Return the default of a field as Avro keeps it: of float and double a text is read as a number.

    Raises InvalidSchema.
    """
    if type_.kind not in ("float", "double") or not isinstance(default, str):
        return default
    text = default.strip()
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text.rstrip("fFdD"))
    if not _DOUBLE.fullmatch(text):
        raise InvalidSchema(f"the default {default[:200]!r} is no number for {type_.kind}")
    return float(text.rstrip("fFdD"))


def printed(default: Any) -> Any:
    """Return the default as it stands in a text: JSON has no numbers for NaN and the infinities, so Jackson quotes
    them."""
    if not isinstance(default, float) or math.isfinite(default):
        return default
    return "NaN" if math.isnan(default) else "Infinity" if default > 0 else "-Infinity"


class DefaultCheck:
    """The checks of all defaults of one schema, which have a budget: unions within unions multiply them."""

    def __init__(self) -> None:
        self._steps_left = REGISTRY_COMPARISON_STEPS_MAX

    def fits(self, type_: AvroType, value: Any) -> bool:
        """Return whether the value fits the type; in a union, any branch. Raises InvalidSchema if checking takes too
        long.
        """
        self._steps_left -= 1
        if self._steps_left < 0:
            raise InvalidSchema("checking its defaults takes too long: too many unions within one another")
        match type_.kind:
            case "null":
                return value is None
            case "boolean":
                return isinstance(value, bool)
            case "string" | "bytes" | "fixed" | "enum":
                return isinstance(value, str)
            case "int":
                return _is_integer(value) and -_INT <= value < _INT
            case "long":
                return _is_integer(value) and -_LONG <= value < _LONG
            case "float" | "double":
                return isinstance(value, int | float) and not isinstance(value, bool)
            case "array":
                return isinstance(value, list) and all(self.fits(type_.inner[0], entry) for entry in value)
            case "map":
                return isinstance(value, dict) and all(self.fits(type_.inner[0], entry) for entry in value.values())
            case "union":
                return any(self.fits(branch, value) for branch in type_.inner)
        return isinstance(value, dict) and all(
            self.fits(field.type, value[field.name]) if field.name in value else field.default is not NO_DEFAULT
            for field in type_.fields
        )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
