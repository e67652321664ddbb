"""An Avro schema as one of Connect, with what makes each other's values of values. Pure.

Values are read and written by fastavro with a schema of the same bytes: without logical types, which are Connect's to
know, and with each branch of a union in a record of one field, whose name tells which branch it is.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api.schema import DECIMAL, SCALE, validate_value
from broker.connect.converters.columns import converted
from broker.connect.converters.logical import from_primitive, to_primitive
from broker.connect.converters.registry.avro import connect_names
from broker.connect.converters.registry.avro.defaults import default_from_json
from broker.registry.avro.model import NO_DEFAULT
from broker.registry.avro.model import AvroType as AvroType
from broker.registry.avro.parsing import parse
from broker.registry.schema import NamedSchema

_PRIMITIVES = {
    "int": Type.INT32,
    "long": Type.INT64,
    "float": Type.FLOAT32,
    "double": Type.FLOAT64,
    "boolean": Type.BOOLEAN,
    "string": Type.STRING,
    "bytes": Type.BYTES,
    "fixed": Type.BYTES,
    "enum": Type.STRING,
}
_NAME_OF_LOGICAL = {
    ("bytes", "decimal"): DECIMAL,
    ("fixed", "decimal"): DECIMAL,
    **{("int" if word != "timestamp-millis" else "long", word): name
       for name, word in connect_names.LOGICAL.items() if name != DECIMAL},
}  # fmt: skip
_SMALL = {type_.value: type_ for type_ in (Type.INT8, Type.INT16)}

Change = Callable[[Schema, Any], Any]


@dataclass(frozen=True, slots=True)
class AvroOptions:
    """`rename` is what names were written with; `keeps_nulls` is ignore.default.for.nullables."""

    rename: Callable[[str], str] | None = None
    keeps_nulls: bool = False


@dataclass(frozen=True, slots=True)
class AvroNode:
    """A type: its schema, what fastavro is given for it, and how values that are not null change."""

    schema: Schema
    codec: Any
    #: As fastavro names a branch of a union; a choice of several names its own.
    word: str
    to: Change
    of: Change
    #: Of a record: what its fields are.
    parts: tuple[tuple[str, "AvroNode"], ...] = ()
    keeps_nulls: bool = False

    def encoded(self, value: Any) -> Any:
        """Encode a value for fastavro. Raises DataError."""
        if value is None:
            value = None if self.keeps_nulls and self.schema.optional else self.schema.default
            if value is None and not self.schema.optional:
                raise DataError(f"Invalid value: null used for required {self.schema.type}")
        if value is None:
            return None
        made = self.to(self.schema, value)
        return (self.word, made) if self.schema.optional and self.word else made

    def decoded(self, datum: Any) -> Any:
        return None if datum is None else self.of(self.schema, datum)

    def decoded_together(self, data: list[Any]) -> list[Any]:
        """Decode each value as `decoded` does; most primitives need no conversion."""
        return converted(self.schema, data, lambda _schema, datum: self.decoded(datum))


def read_schema(
    text: str, referred: Sequence[NamedSchema], options: AvroOptions = AvroOptions()
) -> tuple[AvroNode, bool]:
    """Parse a schema; return its node and whether it is plain bytes, which are written unframed. Raises DataError,
    InvalidSchema.
    """
    names: dict[str, AvroType] = {}
    for named in referred:
        names = parse(named.content.text, names, checks_defaults=False)[1]
        for known in names.values():
            known.is_referred = True
    type_ = parse(text, names, checks_defaults=False)[0]
    return _AvroSchemaReader(options).node(type_), type_.kind == "bytes"


class _AvroSchemaReader:
    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._known: dict[int, AvroNode] = {}
        self._open: set[int] = set()
        self._names = 0

    def node(self, type_: AvroType) -> AvroNode:
        """Return the type's node; a type that occurred before is referred to by its name."""
        if id(type_) in self._open:
            raise DataError("A schema that contains itself, which Connect has no schema for")
        if id(type_) not in self._known:
            self._open.add(id(type_))
            made = self._new(type_)
            self._open.discard(id(type_))
            is_named = isinstance(made.codec, dict) and "name" in made.codec
            self._known[id(type_)] = replace(made, codec=made.codec["name"]) if is_named else made
            return made
        return self._known[id(type_)]

    def _new(self, type_: AvroType) -> AvroNode:
        match type_.kind:
            case "record" | "error":
                return self._record(type_)
            case "array":
                return self._array(type_)
            case "map":
                inner = self.node(type_.inner[0])
                schema = _schema(type_, Type.MAP, key_schema=Schema(Type.STRING), value_schema=inner.schema)
                return AvroNode(schema, {"type": "map", "values": inner.codec}, "map", *_map(inner))
            case "union":
                return self._union(type_)
            case "null":
                raise DataError("Standalone null schemas are not supported by this converter")
        return self._primitive(type_)

    def _primitive(self, type_: AvroType) -> AvroNode:
        kind = _PRIMITIVES[type_.kind]
        if type_.kind == "int":
            kind = _SMALL.get(str(type_.properties.get(connect_names.TYPE)), kind)
        schema = _schema(type_, kind)
        codec: Any = type_.kind
        if type_.kind == "fixed":
            codec = {"type": "fixed", "name": self._name(), "size": type_.size}
        elif type_.kind == "enum":
            codec = {"type": "enum", "name": self._name(), "symbols": list(type_.symbols)}
        elif type_.kind == "string":
            return AvroNode(schema, codec, codec, _same, _read_as_is)
        return AvroNode(schema, codec, codec if isinstance(codec, str) else codec["name"], _to_primitive, _of_primitive)

    def _record(self, type_: AvroType) -> AvroNode:
        parts: list[tuple[str, AvroNode]] = []
        fields = []
        for item in type_.fields:
            inner = self.node(item.type)
            if item.default is not NO_DEFAULT and item.default is not None:
                inner = replace(
                    inner, schema=replace(inner.schema, default=default_from_json(inner.schema, item.default))
                )
            elif item.default is None and inner.schema.default is not None:
                inner = replace(inner, schema=replace(inner.schema, default=None))
            if item.doc is not None and inner.schema.doc is None:
                inner = replace(inner, schema=replace(inner.schema, doc=item.doc))
            parts.append((item.name, replace(inner, keeps_nulls=self._options.keeps_nulls)))
            fields.append({"name": item.name, "type": inner.codec})
        name = self._name()
        schema = _schema(type_, Type.STRUCT, fields=tuple(Field(field, inner.schema) for field, inner in parts))
        codec = {"type": "record", "name": name, "fields": fields}
        return AvroNode(schema, codec, name, *_struct(parts, self._options), tuple(parts))

    def _array(self, type_: AvroType) -> AvroNode:
        items = type_.inner[0]
        if not _has_bytes(items):
            raise DataError("An array of what takes no bytes: any number of them would be read from nothing")
        inner = self.node(items)
        codec = {"type": "array", "items": inner.codec}
        if not _is_entry(items):
            return AvroNode(_schema(type_, Type.ARRAY, value_schema=inner.schema), codec, "array", *_list(inner))
        keys, values = (self.node(items.fields[at].type) for at in (0, 1))
        schema = _schema(type_, Type.MAP, key_schema=keys.schema, value_schema=values.schema)
        return AvroNode(schema, codec, "array", *_entries(keys, values))

    def _union(self, type_: AvroType) -> AvroNode:
        branches = [item for item in type_.inner if item.kind != "null"]
        is_optional = len(branches) < len(type_.inner)
        if not branches:
            raise DataError("A union of nothing but null is not supported by this converter")
        if len(branches) == 1:
            inner = self.node(branches[0])
            schema = replace(inner.schema, optional=True) if is_optional else inner.schema
            codec = ["null" if item.kind == "null" else inner.codec for item in type_.inner]
            if is_optional:
                return replace(inner, schema=schema, codec=codec)
            return replace(inner, codec=codec, to=lambda schema, value: (inner.word, inner.to(schema, value)))
        return self._choice(type_, is_optional)

    def _choice(self, type_: AvroType, is_optional: bool) -> AvroNode:
        codec: list[Any] = []
        parts: list[tuple[str, str, AvroNode]] = []
        for item in type_.inner:
            if item.kind == "null":
                codec.append("null")
                continue
            inner, name = self.node(item), self._name()
            codec.append({"type": "record", "name": name, "fields": [{"name": name, "type": inner.codec}]})
            parts.append((item.name.local if item.name else item.kind, name, inner))
        if len({field for field, _, _ in parts}) < len(parts):
            raise DataError("A union of two types of the same name, in two namespaces")
        fields = tuple(Field(field, replace(inner.schema, optional=True)) for field, _, inner in parts)
        return AvroNode(
            Schema(Type.STRUCT, is_optional, connect_names.UNION, fields=fields), codec, "", *_chosen(parts)
        )

    def _name(self) -> str:
        self._names += 1
        return f"n{self._names}"


def _schema(type_: AvroType, kind: Type, **more: Any) -> Schema:
    properties = type_.properties
    logical = _NAME_OF_LOGICAL.get((type_.kind, str(properties.get("logicalType"))))
    parameters = _parameters(properties.get(connect_names.PARAMETERS))
    if logical == DECIMAL:
        parameters.setdefault(SCALE, str(properties.get("scale", 0)))
        if properties.get("precision", connect_names.PRECISION_DEFAULT) != connect_names.PRECISION_DEFAULT:
            parameters.setdefault(connect_names.PRECISION, str(properties["precision"]))
    if type_.kind == "enum" and type_.name:
        parameters = {
            connect_names.ENUM: type_.name.full,
            **{f"{connect_names.ENUM}.{symbol}": symbol for symbol in type_.symbols},
            **parameters,
        }  # fmt: skip
    elif type_.kind == "fixed":
        parameters.setdefault(connect_names.FIXED_SIZE, str(type_.size))
    version = properties.get(connect_names.VERSION, 1 if logical else None)
    doc = properties.get(connect_names.DOC, type_.doc)
    made = Schema(
        kind, False, _name(type_, logical), version if isinstance(version, int) else None,
        doc if isinstance(doc, str) else None, parameters, **more,
    )  # fmt: skip
    if properties.get(connect_names.DEFAULT) is None:
        return made
    return replace(made, default=default_from_json(made, properties[connect_names.DEFAULT]))


def _parameters(document: Any) -> dict[str, str]:
    """Return those that are not null, which old converters wrote of an enum without a doc. Raises DataError."""
    if not isinstance(document, dict | None):
        raise DataError(f"Expected JSON object for schema parameters but found: {json.dumps(document)}")
    parameters = {key: value for key, value in (document or {}).items() if value is not None}
    for value in parameters.values():
        if not isinstance(value, str):
            raise DataError(f"Expected schema parameter values to be strings but found: {json.dumps(value)}")
    return parameters


def _name(type_: AvroType, logical: str | None) -> str | None:
    name = type_.properties.get(connect_names.NAME)
    if isinstance(name, str):
        return name
    if logical or type_.name is None or type_.name.full.startswith(connect_names.DEFAULT_NAME):
        return logical
    return type_.name.full


def _is_entry(type_: AvroType) -> bool:
    if type_.kind != "record" or [field.name for field in type_.fields] != ["key", "value"] or type_.name is None:
        return False
    is_marked = type_.properties.get(connect_names.INTERNAL_TYPE) == connect_names.MAP_ENTRY
    return is_marked or type_.name.full == f"{connect_names.SPACE}.{connect_names.MAP_ENTRY}"


def _has_bytes(type_: AvroType) -> bool:
    """Return whether each value takes at least one."""
    if type_.kind in ("record", "error"):
        return any(_has_bytes(field.type) for field in type_.fields)
    return type_.kind != "null" and (type_.kind != "fixed" or type_.size > 0)


def _same(schema: Schema, value: Any) -> Any:
    validate_value(schema, value)
    return value


def _read_as_is(schema: Schema, datum: Any) -> Any:
    return datum


def _to_primitive(schema: Schema, value: Any) -> Any:
    validate_value(schema, value)
    made = to_primitive(schema, value)
    made = bytes(made) if isinstance(made, bytearray | memoryview) else made
    size = schema.parameters.get(connect_names.FIXED_SIZE)
    if size is not None and schema.name == DECIMAL:
        number = int.from_bytes(made, "big", signed=True)
        try:
            return number.to_bytes(int(size), "big", signed=True)
        except OverflowError:
            raise DataError(f"A Decimal that does not fit {size} bytes") from None
    return made


def _of_primitive(schema: Schema, datum: Any) -> Any:
    value = from_primitive(schema, datum)
    validate_value(schema, value)
    return value


def _struct(parts: list[tuple[str, AvroNode]], options: AvroOptions) -> tuple[Change, Change]:
    def to(schema: Schema, value: Any) -> Any:
        if not isinstance(value, Struct):
            raise DataError(f"Invalid value: {type(value).__name__} is no struct")
        known = value.schema.fields_by_name
        if options.rename or options.keeps_nulls:
            return {name: node.encoded(item) for (name, node), item in zip(parts, members(value), strict=True)}
        return {name: node.encoded(value[name] if name in known else None) for name, node in parts}

    def members(value: Struct) -> list[Any]:
        """Return the value's members, without defaults where a null stays null."""
        names = {options.rename(name) if options.rename else name: name for name in value.schema.fields_by_name}
        member = value.values_by_name.get if options.keeps_nulls else value.__getitem__
        return [member(names[name]) if name in names else None for name, _ in parts]

    def of(schema: Schema, datum: Any) -> Any:
        return Struct(schema, {name: node.decoded(datum[name]) for name, node in parts})

    return to, of


def _list(inner: AvroNode) -> tuple[Change, Change]:
    return (
        lambda schema, value: [inner.encoded(item) for item in _of(value, (list, tuple), schema)],
        lambda schema, datum: [inner.decoded(item) for item in datum],
    )


def _map(inner: AvroNode) -> tuple[Change, Change]:
    def to(schema: Schema, value: Any) -> Any:
        pairs = _of(value, (dict,), schema).items()
        if not all(isinstance(key, str) for key, _ in pairs):
            raise DataError("Invalid value: a key of the map is no text")
        return {key: inner.encoded(pair) for key, pair in pairs}

    return to, lambda schema, datum: {key: inner.decoded(item) for key, item in datum.items()}


def _entries(keys: AvroNode, values: AvroNode) -> tuple[Change, Change]:
    def to(schema: Schema, value: Any) -> Any:
        pairs = _of(value, (dict,), schema).items()
        return [{"key": keys.encoded(key), "value": values.encoded(pair)} for key, pair in pairs]

    def of(schema: Schema, datum: Any) -> Any:
        try:
            return {keys.decoded(value["key"]): values.decoded(value["value"]) for value in datum}
        except TypeError:
            raise DataError("A map whose keys cannot be compared") from None

    return to, of


def _chosen(parts: list[tuple[str, str, AvroNode]]) -> tuple[Change, Change]:
    def to(schema: Schema, value: Any) -> Any:
        given = [part for part in parts if isinstance(value, Struct) and value.get(part[0]) is not None]
        if len(given) != 1:
            raise DataError("Invalid value: of a union exactly one field has a value")
        ((field, name, inner),) = given
        return name, {name: inner.encoded(value[field])}

    def of(schema: Schema, datum: Any) -> Any:
        field, inner = by_name[next(iter(datum))]
        return Struct(schema, {field: inner.decoded(datum[next(iter(datum))])})

    by_name = {name: (field, inner) for field, name, inner in parts}
    return to, of


def _of(value: Any, kinds: tuple[type, ...], schema: Schema) -> Any:
    if not isinstance(value, kinds):
        raise DataError(f"Invalid type for {schema.type}: {type(value).__name__}")
    return value
