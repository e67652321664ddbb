"""Strings, numbers, enums and constants: bounds that may widen and values that may only become more."""

from collections.abc import Hashable
from decimal import Decimal
from typing import Any

from broker.registry.json_schema.comparison import JsonSchemaComparison
from broker.registry.json_schema.model import JsonSchemaNode


def as_key(value: Any) -> Hashable:
    """Return a JSON value as a dictionary key: the same for those that are equal in Python, as 1 and 1.0 are."""
    if isinstance(value, dict):
        return "object", frozenset((name, as_key(member)) for name, member in value.items())
    return ("array", tuple(map(as_key, value))) if isinstance(value, list) else value


def compare_bounds(
    comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode, names: dict[str, str]
) -> None:
    """Compare each bound keyword: added, removed, increased or decreased."""
    for keyword, name in names.items():
        old, new = _number(original.keywords.get(keyword)), _number(update.keywords.get(keyword))
        if old == new:
            continue
        if old is None or new is None:
            comparison.add(f"{name}_{'ADDED' if old is None else 'REMOVED'}", keyword)
        else:
            comparison.add(f"{name}_{'INCREASED' if new > old else 'DECREASED'}", keyword)


def _number(value: Any) -> Decimal | None:
    """Return a number; None for Draft 4's exclusiveMinimum true: the minimum beside it is compared."""
    return Decimal(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None


def compare_strings(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    compare_bounds(comparison, original, update, {"maxLength": "MAX_LENGTH", "minLength": "MIN_LENGTH"})
    old, new = original.keywords.get("pattern"), update.keywords.get("pattern")
    if old != new:
        change = "ADDED" if old is None else "REMOVED" if new is None else "CHANGED"
        comparison.add(f"PATTERN_{change}", "pattern")


def compare_numbers(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    names = {
        "maximum": "MAXIMUM", "minimum": "MINIMUM",
        "exclusiveMaximum": "EXCLUSIVE_MAXIMUM", "exclusiveMinimum": "EXCLUSIVE_MINIMUM",
    }  # fmt: skip
    compare_bounds(comparison, original, update, names)
    for keyword, name in (("exclusiveMaximum", "EXCLUSIVE_MAXIMUM"), ("exclusiveMinimum", "EXCLUSIVE_MINIMUM")):
        was, is_ = original.keywords.get(keyword) is True, update.keywords.get(keyword) is True
        if was != is_:
            comparison.add(f"{name}_{'ADDED' if is_ else 'REMOVED'}", keyword)
    _compare_multiples(
        comparison, _number(original.keywords.get("multipleOf")), _number(update.keywords.get("multipleOf"))
    )
    if original.is_integer != update.is_integer:
        comparison.add("TYPE_EXTENDED" if original.is_integer else "TYPE_NARROWED")


def _compare_multiples(comparison: JsonSchemaComparison, old: Decimal | None, new: Decimal | None) -> None:
    if old == new:
        return
    if old is None or new is None:
        change = "ADDED" if old is None else "REMOVED"
    elif new and not new % old:
        change = "EXPANDED"
    else:
        change = "REDUCED" if not old % new else "CHANGED"
    comparison.add(f"MULTIPLE_OF_{change}", "multipleOf")


def compare_enums(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    old, new = original.keywords["enum"], update.keywords["enum"]
    olds, news = set(map(as_key, old)), set(map(as_key, new))
    added, removed = news - olds, olds - news
    if added or removed:
        change = "CHANGED" if added and removed else "EXTENDED" if added else "NARROWED"
        comparison.add(f"ENUM_ARRAY_{change}", "enum")


def compare_consts(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    if original.keywords["const"] != update.keywords["const"]:
        comparison.add("ENUM_ARRAY_CHANGED", "const")
