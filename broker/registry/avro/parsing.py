"""Text to tree, by the rules of Avro 1.11's Java parser: what that refuses is refused here."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from broker.common.limits import REGISTRY_SCHEMA_DEPTH_MAX
from broker.registry.avro.model import NO_DEFAULT, PRIMITIVES, AvroField, AvroType, Name
from broker.registry.errors import InvalidSchema

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ORDERS = ("ascending", "descending", "ignore")
_NAMED = ("record", "error", "enum", "fixed")
_RESERVED = {
    "record": {"type", "name", "namespace", "doc", "fields", "aliases"},
    "enum": {"type", "name", "namespace", "doc", "symbols", "default", "aliases"},
    "fixed": {"type", "name", "namespace", "doc", "size", "aliases"},
    "array": {"type", "items"},
    "map": {"type", "values"},
}
_RESERVED["error"] = _RESERVED["record"]
_FIELD_RESERVED = {"name", "type", "doc", "default", "order", "aliases"}


def parse(
    text: str, known: Mapping[str, AvroType] | None = None, *, checks_defaults: bool = True
) -> tuple[AvroType, dict[str, AvroType]]:
    """The schema and every named type in it by full name; `known` are those it may speak of. Raises InvalidSchema."""
    parser = _Parser(dict(known or {}), checks_defaults)
    try:
        return parser.type(_json(text), "", 0), parser.names
    except RecursionError:
        raise InvalidSchema("the schema is nested too deeply") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        if _NAME.fullmatch(text.strip()):
            return text.strip()
        raise InvalidSchema(f"it is no JSON: {error}") from None


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


class _Parser:
    def __init__(self, known: dict[str, AvroType], checks_defaults: bool):
        self.names = known
        self._checks_defaults = checks_defaults

    def type(self, told: Any, space: str, depth: int) -> AvroType:
        if depth > REGISTRY_SCHEMA_DEPTH_MAX:
            raise InvalidSchema(f"the schema is nested more than {REGISTRY_SCHEMA_DEPTH_MAX} deep")
        if isinstance(told, str):
            return self._named(told, space)
        if isinstance(told, list):
            return self._union(told, space, depth)
        if not isinstance(told, dict):
            raise InvalidSchema(f"{_short(told)} is no schema")
        kind = told.get("type")
        if isinstance(kind, dict | list):
            return self.type(kind, space, depth + 1)
        if not isinstance(kind, str):
            raise InvalidSchema(f"No type: {_short(told)}")
        if kind in PRIMITIVES:
            return AvroType(kind, _properties(told, {"type"}))
        if kind in _NAMED:
            return self._definition(kind, told, space, depth)
        if kind in ("array", "map"):
            member = "items" if kind == "array" else "values"
            if member not in told:
                raise InvalidSchema(f"{kind.capitalize()} has no {member} type: {_short(told)}")
            return AvroType(kind, _properties(told, _RESERVED[kind]), inner=[self.type(told[member], space, depth + 1)])
        return self._named(kind, space)

    def _named(self, text: str, space: str) -> AvroType:
        if text in PRIMITIVES:
            return AvroType(text)
        name = _name(text, None, space, is_definition=False)
        found = self.names.get(name.full) or self.names.get(text)
        if found is None:
            raise InvalidSchema(
                f'"{text[:200]}" is not a defined name. The type of a field must be a defined name or a '
                '{"type": ...} expression.'
            )
        return found

    def _union(self, told: list[Any], space: str, depth: int) -> AvroType:
        branches = [self.type(item, space, depth + 1) for item in told]
        seen: set[str] = set()
        for branch in branches:
            if branch.kind == "union":
                raise InvalidSchema("Nested union")
            if branch.label in seen:
                raise InvalidSchema(f"Duplicate in union:{branch.label}")
            seen.add(branch.label)
        return AvroType("union", inner=branches)

    def _definition(self, kind: str, told: dict[str, Any], space: str, depth: int) -> AvroType:
        if not isinstance(told.get("name"), str):
            raise InvalidSchema(f"No name in schema: {_short(told)}")
        name = _name(told["name"], told.get("namespace"), space)
        found = AvroType(kind, _properties(told, _RESERVED[kind]), name=name, doc=_text_or_none(told.get("doc")))
        found.aliases = tuple(_name(text, None, name.space) for text in _texts(told, "aliases"))
        if name.full in self.names and not self.names[name.full].is_referred:
            raise InvalidSchema(f"Can't redefine: {name.full}")
        if name.full in PRIMITIVES:
            raise InvalidSchema(f"Schemas may not be named after primitives: {name.full}")
        self.names[name.full] = found
        if kind == "enum":
            _fill_enum(found, told)
        elif kind == "fixed":
            size = told.get("size")
            if not isinstance(size, int) or isinstance(size, bool) or size < 0:
                raise InvalidSchema(f"Invalid or no size: {_short(told)}")
            found.size = size
        else:
            self._fill_record(found, told, name.space, depth)
        return found

    def _fill_record(self, found: AvroType, told: dict[str, Any], space: str, depth: int) -> None:
        fields = told.get("fields")
        if not isinstance(fields, list):
            raise InvalidSchema(f"Record has no fields: {_short(told)}")
        seen: set[str] = set()
        for value in fields:
            field = self._field(value, space, depth)
            if field.name in seen:
                raise InvalidSchema(f"Duplicate field {field.name} in record {found.name and found.name.full}")
            seen.add(field.name)
            found.fields.append(field)
        for field in found.fields if self._checks_defaults else ():
            if field.default is not NO_DEFAULT and not _is_default(field.type, field.default):
                raise InvalidSchema(
                    f"Invalid default for field {field.name}: {_short(field.default)} not a {field.type.kind}"
                )

    def _field(self, told: Any, space: str, depth: int) -> AvroField:
        if not isinstance(told, dict) or not isinstance(told.get("name"), str):
            raise InvalidSchema(f"No field name: {_short(told)}")
        if "type" not in told:
            raise InvalidSchema(f"No field type: {_short(told)}")
        order = told.get("order", "ascending")
        if not isinstance(order, str) or order.lower() not in _ORDERS:
            raise InvalidSchema(f"Invalid order of field {told['name']}: {_short(order)}")
        return AvroField(
            _checked(told["name"]),
            self.type(told["type"], space, depth + 1),
            told.get("default", NO_DEFAULT),
            _text_or_none(told.get("doc")),
            order.lower(),
            tuple(_texts(told, "aliases")),
            _properties(told, _FIELD_RESERVED),
        )


def _fill_enum(found: AvroType, told: dict[str, Any]) -> None:
    if not isinstance(told.get("symbols"), list):
        raise InvalidSchema(f"Enum has no symbols: {_short(told)}")
    found.symbols = tuple(_checked(text) for text in _texts(told, "symbols"))
    if len(set(found.symbols)) < len(found.symbols):
        raise InvalidSchema(f"Duplicate enum symbol in {found.name and found.name.full}")
    default = told.get("default")
    if default is not None and default not in found.symbols:
        raise InvalidSchema(f"The Enum Default: {_short(default)} is not in the enum symbol set")
    found.enum_default = default


def _name(text: object, namespace: object, space: str, *, is_definition: bool = True) -> Name:
    if not isinstance(text, str) or not (namespace is None or isinstance(namespace, str)):
        raise InvalidSchema(f"{_short(text)} is no name")
    before, dot, local = text.rpartition(".")
    found = Name(local, before if dot else space if namespace is None else namespace)
    if is_definition:
        _checked(found.local)
        for part in filter(None, found.space.split(".")):
            _checked(part)
    return found


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidSchema(f"Illegal character in: {name[:200]}" if name else "Empty name")
    return name


def _texts(told: dict[str, Any], member: str) -> list[str]:
    found = told.get(member) or []
    if not isinstance(found, list) or not all(isinstance(value, str) for value in found):
        raise InvalidSchema(f"{member} is not a list of names: {_short(told)}")
    return found


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _properties(told: dict[str, Any], reserved: set[str]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in reserved}


_INT, _LONG = 2**31, 2**63


def _is_default(type_: AvroType, value: Any) -> bool:
    """As Schema.isValidDefault: of a union its first branch counts."""
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
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case "array":
            return isinstance(value, list) and all(_is_default(type_.inner[0], entry) for entry in value)
        case "map":
            return isinstance(value, dict) and all(_is_default(type_.inner[0], entry) for entry in value.values())
        case "union":
            return bool(type_.inner) and any(_is_default(item, value) for item in type_.inner[:1])
    if not isinstance(value, dict):
        return False
    return all(
        _is_default(field.type, value[field.name]) if field.name in value else field.default is not NO_DEFAULT
        for field in type_.fields
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: object) -> str:
    text = json.dumps(value) if not isinstance(value, str) else value
    return text if len(text) <= 200 else f"{text[:200]}…"
