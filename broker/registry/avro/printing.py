"""Tree to text, in the order in which Avro's Java library prints a schema: what counts as one and the same schema."""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from broker.registry.avro.defaults import printed
from broker.registry.avro.model import NO_DEFAULT, TYPE_NAMES, AvroType, Name


def canonical(type_: AvroType) -> str:
    """Format the schema as Confluent's registry stores it: nothing is dropped, and equivalent notations become one."""
    return _dumps(_Printer(sorts=False).tree(type_, ""))


def normalized(type_: AvroType) -> str:
    """Format as `canonical`, with unordered aliases and properties sorted by name."""
    return _dumps(_Printer(sorts=True).tree(type_, ""))


def _dumps(tree: Any) -> str:
    if any(repr(number) != double_text(number) for number in _floats(tree)):
        return _spelt(tree)
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))


def _spelt(tree: Any) -> str:
    """Write JSON with Java's numbers, which json.dumps cannot do."""
    if isinstance(tree, dict):
        return "{" + ",".join(f"{_spelt(name)}:{_spelt(value)}" for name, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(_spelt, tree)) + "]"
    return double_text(tree) if isinstance(tree, float) else json.dumps(tree, ensure_ascii=False)


def _floats(tree: Any) -> Iterator[float]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, float):
            yield node
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def double_text(number: float) -> str:
    """Return a finite number as Double.toString writes it: 1.0E10, 1.0E-4; others as Python does."""
    if number == 0 or 1e-3 <= abs(number) < 1e7 or not math.isfinite(number):
        return repr(number)
    digits, _, exponent = f"{Decimal(repr(number)):E}".partition("E")
    whole, _, rest = digits.partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}E{int(exponent)}"


class _Printer:
    """A type is printed where it is first met, and named wherever it is met again."""

    def __init__(self, *, sorts: bool):
        self._sorts = sorts
        self._printed: set[int] = set()

    def tree(self, type_: AvroType, space: str) -> Any:
        match type_.kind:
            case "union":
                return [self.tree(item, space) for item in type_.inner]
            case "array":
                return {"type": "array", "items": self.tree(type_.inner[0], space)} | self._properties(type_.properties)
            case "map":
                return {"type": "map", "values": self.tree(type_.inner[0], space)} | self._properties(type_.properties)
        if type_.name is None:
            return {"type": type_.kind} | self._properties(type_.properties) if type_.properties else type_.kind
        if type_.is_referred or id(type_) in self._printed:
            return _qualified(type_.name, space)
        self._printed.add(id(type_))
        return self._definition(type_, type_.name, space)

    def _definition(self, type_: AvroType, name: Name, space: str) -> dict[str, Any]:
        tree: dict[str, Any] = {"type": type_.kind, "name": name.local}
        if name.space != space:
            tree["namespace"] = name.space
        if type_.doc is not None:
            tree["doc"] = type_.doc
        if type_.kind == "enum":
            tree["symbols"] = list(type_.symbols)
            if type_.enum_default is not None:
                tree["default"] = type_.enum_default
        elif type_.kind == "fixed":
            tree["size"] = type_.size
        else:
            tree["fields"] = [self._field(field, name.space) for field in type_.fields]
        tree |= self._properties(type_.properties)
        if type_.aliases:
            aliases = [_qualified(alias, name.space) for alias in type_.aliases]
            tree["aliases"] = self._in_order(aliases)
        return tree

    def _field(self, field: Any, space: str) -> dict[str, Any]:
        tree: dict[str, Any] = {"name": field.name, "type": self.tree(field.type, space)}
        if field.doc is not None:
            tree["doc"] = field.doc
        if field.default is not NO_DEFAULT:
            tree["default"] = printed(field.default)
        if field.order != "ascending":
            tree["order"] = field.order
        if field.aliases:
            tree["aliases"] = self._in_order(list(field.aliases))
        return tree | self._properties(field.properties)

    def _properties(self, properties: dict[str, Any]) -> dict[str, Any]:
        return {name: _sorted(properties[name]) for name in sorted(properties)} if self._sorts else properties

    def _in_order(self, names: list[str]) -> list[str]:
        return sorted(set(names)) if self._sorts else names


def _qualified(name: Name, space: str) -> str:
    """Return the name as it is written in the namespace: one that is a type's is always full."""
    return name.local if name.space == space and name.local not in TYPE_NAMES else name.full


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
