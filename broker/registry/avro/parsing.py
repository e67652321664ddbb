"""Text to tree, by the rules of Avro 1.12's Java parser: what that refuses is refused here."""

import json
import re
from collections.abc import Mapping
from typing import Any

from broker.common.limits import REGISTRY_MESSAGES_BYTES_MAX, REGISTRY_SCHEMA_DEPTH_MAX
from broker.registry.avro.defaults import DefaultCheck, default_of
from broker.registry.avro.model import NO_DEFAULT, PRIMITIVES, AvroField, AvroType, Name
from broker.registry.errors import InvalidSchema

#: A text in quotes, or a comment: of what is not ended all of the rest.
_TEXT_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"?|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
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
    """Return the schema and every named type in it by full name; `known` are those it may speak of. Raises
    InvalidSchema.

    With `checks_defaults`, names and defaults are held to Avro's rules, too.
    """
    parser, type_ = _parsed(text, known, checks_defaults)
    if parser.complaint:
        raise InvalidSchema(parser.complaint)
    return type_, parser.names


def parse_with_complaint(text: str, known: Mapping[str, AvroType]) -> tuple[AvroType, str]:
    """Return the schema, and the first name or default in it that Avro does not allow; empty if there is none.

    Raises InvalidSchema for what is no schema even so.
    """
    parser, type_ = _parsed(text, known, True)
    return type_, parser.complaint


def _parsed(text: str, known: Mapping[str, AvroType] | None, checks: bool) -> "tuple[_Parser, AvroType]":
    parser = _Parser(dict(known or {}), checks)
    try:
        return parser, parser.type(_json(text), "", 0)
    except RecursionError:
        raise InvalidSchema("the schema is nested too deeply") from None


def _json(text: str) -> Any:
    """Parse JSON with comments, as Jackson reads Avro's schemas."""
    try:
        return json.loads(_without_comments(text), parse_constant=_no_constant)
    except ValueError as error:
        if _NAME.fullmatch(text.strip()):
            return text.strip()
        raise InvalidSchema(f"it is no JSON: {error}") from None


def _without_comments(text: str) -> str:
    if "//" not in text and "/*" not in text:
        return text
    return _TEXT_OR_COMMENT.sub(lambda match: match.group() if match.group().startswith('"') else " ", text)


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


class _Parser:
    def __init__(self, known: dict[str, AvroType], checks: bool):
        self.names = known
        self._defaults = DefaultCheck() if checks else None
        self._name_characters = 0
        #: Records whose fields are being read: only their full names mean them.
        self._unfinished: set[int] = set()
        #: The first name or default that Avro does not allow.
        self.complaint = ""

    def type(self, definition: Any, space: str, depth: int) -> AvroType:
        if depth > REGISTRY_SCHEMA_DEPTH_MAX:
            raise InvalidSchema(f"the schema is nested more than {REGISTRY_SCHEMA_DEPTH_MAX} deep")
        if isinstance(definition, str):
            return self._named(definition, space)
        if isinstance(definition, list):
            return self._union(definition, space, depth)
        if not isinstance(definition, dict):
            raise InvalidSchema(f"{_short(definition)} is no schema")
        kind = definition.get("type")
        if isinstance(kind, dict | list):
            self._complain(f"No type: {_short(definition)}")
            return self.type(kind, space, depth + 1)
        if not isinstance(kind, str):
            raise InvalidSchema(f"No type: {_short(definition)}")
        if kind in PRIMITIVES:
            return AvroType(kind, _properties(definition, {"type"}))
        if kind in _NAMED:
            return self._definition(kind, definition, space, depth)
        if kind in ("array", "map"):
            member = "items" if kind == "array" else "values"
            if member not in definition:
                raise InvalidSchema(f"{kind.capitalize()} has no {member} type: {_short(definition)}")
            return AvroType(
                kind, _properties(definition, _RESERVED[kind]), inner=[self.type(definition[member], space, depth + 1)]
            )
        return self._named(kind, space)

    def _named(self, text: str, space: str) -> AvroType:
        if text in PRIMITIVES:
            return AvroType(text)
        name = _name(text, None, space)
        if text.startswith("."):
            self._complain(f"Undefined schema: {text[:200]}")
        avro_type = self.names.get(name.full)
        if avro_type is None and (avro_type := self.names.get(text)) is not None and id(avro_type) in self._unfinished:
            self._complain(f"Undefined schema: {name.full[:200]}")
        if avro_type is None:
            raise InvalidSchema(
                f'"{text[:200]}" is not a defined name. The type of a field must be a defined name or a '
                '{"type": ...} expression.'
            )
        return avro_type

    def _union(self, definitions: list[Any], space: str, depth: int) -> AvroType:
        branches = [self.type(item, space, depth + 1) for item in definitions]
        seen: set[str] = set()
        for branch in branches:
            if branch.kind == "union":
                raise InvalidSchema("Nested union")
            if branch.label in seen:
                raise InvalidSchema(f"Duplicate in union:{branch.label}")
            seen.add(branch.label)
        return AvroType("union", inner=branches)

    def _definition(self, kind: str, definition: dict[str, Any], space: str, depth: int) -> AvroType:
        if not isinstance(definition.get("name"), str):
            raise InvalidSchema(f"No name in schema: {_short(definition)}")
        name = self._defined(definition["name"], definition.get("namespace"), space)
        avro_type = AvroType(
            kind, _properties(definition, _RESERVED[kind]), name=name, doc=_text_or_none(definition.get("doc"))
        )
        aliases = [_name(text, None, name.space) for text in self._aliases(definition)]
        for alias in aliases:
            self._checked(alias.local)
        avro_type.aliases = tuple(dict.fromkeys(aliases))
        if name.full in self.names and not self.names[name.full].is_referred:
            raise InvalidSchema(f"Can't redefine: {name.full}")
        self._name_characters += len(name.full)
        if self._name_characters > REGISTRY_MESSAGES_BYTES_MAX:
            raise InvalidSchema("its names are too long together: use a shorter namespace")
        if name.full in PRIMITIVES:
            raise InvalidSchema(f"Schemas may not be named after primitives: {name.full}")
        self.names[name.full] = avro_type
        if kind == "enum":
            self._fill_enum(avro_type, definition)
        elif kind == "fixed":
            size = definition.get("size")
            if not isinstance(size, int) or isinstance(size, bool) or size < 0:
                raise InvalidSchema(f"Invalid or no size: {_short(definition)}")
            avro_type.size = size
        else:
            self._unfinished.add(id(avro_type))
            self._fill_record(avro_type, definition, name.space, depth)
            self._unfinished.discard(id(avro_type))
        return avro_type

    def _fill_record(self, avro_type: AvroType, definition: dict[str, Any], space: str, depth: int) -> None:
        fields = definition.get("fields")
        if not isinstance(fields, list):
            raise InvalidSchema(f"Record has no fields: {_short(definition)}")
        seen: set[str] = set()
        for value in fields:
            field = self._field(value, space, depth)
            if field.name in seen:
                raise InvalidSchema(f"Duplicate field {field.name} in record {avro_type.name and avro_type.name.full}")
            seen.add(field.name)
            avro_type.fields.append(field)
        for field in avro_type.fields if self._defaults else ():
            assert self._defaults is not None
            try:
                fits = field.default is NO_DEFAULT or self._defaults.fits(field.type, field.default)
            except InvalidSchema as error:
                self._complain(str(error))
                break
            if not fits:
                self._complain(
                    f"Invalid default for field {field.name}: {_short(field.default)} not a {field.type.kind}"
                )

    def _aliases(self, definition: dict[str, Any]) -> list[str]:
        if definition.get("aliases", ()) is None:
            self._complain(f"aliases not an array: {_short(definition)}")
        return _texts(definition, "aliases")

    def _complain(self, sentence: str) -> None:
        if self._defaults is not None:
            self.complaint = self.complaint or sentence

    def _checked(self, name: str) -> str:
        if not name:
            self._complain("Empty name")
        elif not _NAME.fullmatch(name):
            self._complain(f"Illegal character in: {name[:200]}")
        return name

    def _defined(self, text: object, namespace: object, space: str) -> Name:
        name = _name(text, namespace, space)
        for part in (name.local, *(name.space.split(".") if name.space else ())):
            self._checked(part)
        return name

    def _field(self, definition: Any, space: str, depth: int) -> AvroField:
        if not isinstance(definition, dict) or not isinstance(definition.get("name"), str):
            raise InvalidSchema(f"No field name: {_short(definition)}")
        if "type" not in definition:
            raise InvalidSchema(f"No field type: {_short(definition)}")
        order = definition.get("order", "ascending")
        if not isinstance(order, str) or order.lower() not in _ORDERS:
            raise InvalidSchema(f"Invalid order of field {definition['name']}: {_short(order)}")
        type_ = self.type(definition["type"], space, depth + 1)
        return AvroField(
            self._checked(definition["name"]),
            type_,
            default_of(type_, definition.get("default", NO_DEFAULT)),
            _text_or_none(definition.get("doc")),
            order.lower(),
            tuple(dict.fromkeys(self._aliases(definition))),
            _properties(definition, _FIELD_RESERVED),
        )

    def _fill_enum(self, enum: AvroType, definition: dict[str, Any]) -> None:
        if not isinstance(definition.get("symbols"), list):
            raise InvalidSchema(f"Enum has no symbols: {_short(definition)}")
        enum.symbols = tuple(self._checked(text) for text in _texts(definition, "symbols"))
        if len(set(enum.symbols)) < len(enum.symbols):
            raise InvalidSchema(f"Duplicate enum symbol in {enum.name and enum.name.full}")
        default = definition.get("default")
        if default is not None and default not in enum.symbols:
            raise InvalidSchema(f"The Enum Default: {_short(default)} is not in the enum symbol set")
        enum.enum_default = default


def _name(text: object, namespace: object, space: str) -> Name:
    if not isinstance(text, str) or not (namespace is None or isinstance(namespace, str)):
        raise InvalidSchema(f"{_short(text)} is no name")
    before, dot, local = text.rpartition(".")
    return Name(local, before if dot else space if namespace is None else namespace)


def _texts(definition: dict[str, Any], member: str) -> list[str]:
    texts = definition.get(member) or []
    if not isinstance(texts, list) or not all(isinstance(value, str) for value in texts):
        raise InvalidSchema(f"{member} is not a list of names: {_short(definition)}")
    return texts


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _properties(definition: dict[str, Any], reserved: set[str]) -> dict[str, Any]:
    return {name: value for name, value in definition.items() if name not in reserved}


def _short(value: object) -> str:
    text = json.dumps(value) if not isinstance(value, str) else value
    return text if len(text) <= 200 else f"{text[:200]}…"
