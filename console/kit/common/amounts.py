"""Amounts as people type them: a plain number, or one with a unit (`3.5 d`, `10 MB`). Pure."""

import re
from collections.abc import Mapping
from decimal import Decimal

DURATIONS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
SIZES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_AMOUNT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)([a-z]*)")


def squeezed(text: str) -> str:
    return text.replace("\u202f", "").replace(" ", "").lower()


def whole_number(text: str, units: Mapping[str, int]) -> str | None:
    """Return `text` as digits, in the smallest of `units`; None for what is no amount."""
    amount = _AMOUNT.fullmatch(squeezed(text))
    if amount is None or (amount[2] and amount[2] not in units) or (not amount[2] and "." in amount[1]):
        return None
    return str(int(Decimal(amount[1]) * units.get(amount[2], 1)))


def units_of(setting: str) -> Mapping[str, int]:
    """Return the units by the suffix of Kafka's setting name; empty if it is neither a time in ms nor a size."""
    return DURATIONS if setting.endswith(".ms") else SIZES if setting.endswith(".bytes") else {}
