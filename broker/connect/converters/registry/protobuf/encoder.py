"""A struct of Connect as a Protobuf file of one message, with others in it. Pure.

What Protobuf has no word for (int8, a name, a version) stands in Confluent's options, which others may leave unread.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from broker.connect.api import DataError, Field, Schema, Type
from broker.connect.api.schema import DECIMAL
from broker.connect.converters.json_schema_form import DEPTH_MAX
from broker.connect.converters.registry.protobuf import connect_names

_SCALARS = {
    Type.INT8: "int32",
    Type.INT16: "int32",
    Type.INT32: "int32",
    Type.INT64: "int64",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOLEAN: "bool",
    Type.STRING: "string",
    Type.BYTES: "bytes",
}
_WRAPPERS = {
    "int32": "Int32Value",
    "int64": "Int64Value",
    "float": "FloatValue",
    "double": "DoubleValue",
    "bool": "BoolValue",
    "string": "StringValue",
    "bytes": "BytesValue",
}
_KEYS = (Type.INT32, Type.INT64, Type.BOOLEAN, Type.STRING)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAG_MAX = (1 << 29) - 1


def proto_of(schema: Schema, *, uses_optional: bool, wrappers: bool, rename: Callable[[str], str] = str) -> str:
    """Return the .proto text of a schema. `uses_optional`: optional.for.nullables; `wrappers`: wrapper.for.nullables;
    `rename` is for each part of a name. Raises DataError.
    """
    if schema.type is not Type.STRUCT:
        raise DataError(f"Protobuf has messages alone: a struct is wanted, not {schema.type}")
    return _ProtobufSchemaEncoder(uses_optional, wrappers, rename).file(schema)


def name_of(schema: Schema, rename: Callable[[str], str] = str) -> str:
    """Return the full name of the message."""
    return ".".join(map(rename, (schema.name or f"{connect_names.DEFAULT_NAME}1").split(".")))


class _ProtobufSchemaEncoder:
    def __init__(self, uses_optional: bool, wrappers: bool, rename: Callable[[str], str]):
        self._uses_optional, self._wrappers, self._rename = uses_optional, wrappers, rename
        self._imports: set[str] = set()
        self._unnamed = 0

    def file(self, schema: Schema) -> str:
        space, _, _ = (schema.name or "").rpartition(".")
        body = self._message(self._local(schema), schema, 0)
        head = ['syntax = "proto3";', *([f"package {'.'.join(map(self._name, space.split('.')))};"] if space else [])]
        return "\n".join([*head, *(f'import "{import_}";' for import_ in sorted(self._imports)), *body]) + "\n"

    def _name(self, name: str) -> str:
        return _checked(self._rename(name))

    def _local(self, schema: Schema) -> str:
        if schema.name:
            return self._name(schema.name.rpartition(".")[2])
        self._unnamed += 1
        return f"{connect_names.DEFAULT_NAME}{self._unnamed}"

    def _message(self, name: str, schema: Schema, depth: int) -> list[str]:
        if depth > DEPTH_MAX:
            raise DataError(f"A schema of more than {DEPTH_MAX} levels")
        within = _Within(name)
        fields: list[str] = []
        for field in schema.fields:
            if field.schema.type is Type.STRUCT and (field.schema.name or "").startswith(connect_names.UNION):
                inner = [self._field(part.name, part.schema, within, depth, "") for part in field.schema.fields]
                fields += [
                    f"oneof {self._name((field.schema.name or '').removeprefix(connect_names.UNION))} {{",
                    *inner,
                    "}",
                ]
            else:
                fields.append(self._field(field.name, field.schema, within, depth, None))
        params = {connect_names.NAME: schema.name, connect_names.VERSION: schema.version, **schema.parameters}
        option = self._meta(schema.doc, params)
        lines = [f"option (confluent.message_meta) = {option};"] if option else []
        return [f"message {name} {{", *lines, *fields, *within.messages, "}"]

    def _field(self, name: str, schema: Schema, within: "_Within", depth: int, label: str | None) -> str:
        """Write a field. `label` None: as the schema wants it."""
        tag = within.tag(schema)
        params: Mapping[str, object] = schema.parameters
        if schema.type is Type.STRUCT:
            field_type, doc, params = self._nested(schema, within, depth), None, {}
        elif schema.type is Type.ARRAY and schema.value_schema:
            field_type, label, doc = self._element(schema.value_schema, within, depth), "repeated ", schema.doc
        elif schema.type is Type.MAP and schema.key_schema and schema.value_schema:
            field_type, label = self._map(name, schema.key_schema, schema.value_schema, within, depth)
            doc = schema.doc
        else:
            field_type, doc = self._scalar(schema, is_nullable=schema.optional and label is None), schema.doc
        if schema.type is not Type.STRUCT:
            params = {**params, **_type_params(schema)}
        if label is None:
            is_wrapped = field_type.startswith(".google.protobuf.") and field_type.endswith("Value")
            label = "optional " if schema.optional and self._uses_optional and not is_wrapped else ""
        option = self._meta(doc, params)
        meta = f" [(confluent.field_meta) = {option}]" if option else ""
        return f"{label}{field_type} {self._name(name)} = {tag}{meta};"

    def _scalar(self, schema: Schema, *, is_nullable: bool) -> str:
        if schema.name in connect_names.LOGICAL:
            message, file = connect_names.LOGICAL[schema.name]
            self._imports.add(file)
            return f".{message}"
        scalar = _SCALARS[schema.type]
        if is_nullable and self._wrappers:
            self._imports.add(connect_names.WRAPPERS)
            return f".google.protobuf.{_WRAPPERS[scalar]}"
        return scalar

    def _nested(self, schema: Schema, within: "_Within", depth: int) -> str:
        known = replace(schema, optional=False, default=None, parameters=_without_tag(schema))
        for name, nested in within.known.items():
            if nested == known and schema.name:
                return name
        name = within.free(self._local(schema))
        within.known[name] = known
        within.messages += self._message(name, known, depth + 1)
        return name

    def _element(self, schema: Schema, within: "_Within", depth: int) -> str:
        if schema.optional or schema.type in (Type.ARRAY, Type.MAP):
            raise DataError("Protobuf has no arrays of arrays, of maps, or of what may be null")
        if schema.type is Type.STRUCT:
            return self._nested(schema, within, depth)
        if not _is_plain(schema):
            raise DataError(f"Protobuf has no arrays of {schema.name or schema.type} that keep their schema")
        return self._scalar(schema, is_nullable=False)

    def _map(self, name: str, keys: Schema, values: Schema, within: "_Within", depth: int) -> tuple[str, str]:
        is_simple = values.type not in (Type.ARRAY, Type.MAP) and not values.optional
        has_own_key = keys.type in _KEYS and keys.name is None and not keys.optional and _is_plain(keys)
        if has_own_key and is_simple and (values.type is Type.STRUCT or _is_plain(values)):
            inner = self._element(values, within, depth)
            return f"map<{_SCALARS[keys.type]}, {inner}>", ""
        entry = within.free("".join(part.capitalize() for part in self._rename(name).split("_")) + connect_names.ENTRY)
        within.known[entry] = None
        fields = (Field("key", keys), Field("value", values))
        within.messages += self._message(entry, Schema(Type.STRUCT, fields=fields), depth + 1)
        return entry, "repeated "

    def _meta(self, doc: str | None, params: Mapping[str, object]) -> str:
        given = {key: str(value) for key, value in params.items() if value is not None and key != connect_names.TAG}
        if not given and doc is None:
            return ""
        self._imports.add(connect_names.META)
        parts = [f"doc: {_quoted(doc)}"] if doc is not None else []
        parts += [f"params: {{ key: {_quoted(key)} value: {_quoted(value)} }}" for key, value in given.items()]
        return "{ " + " ".join(parts) + " }"


class _Within:
    """What a message holds so far."""

    def __init__(self, name: str) -> None:
        self.messages: list[str] = []
        self.known: dict[str, Schema | None] = {}
        self._own = name
        self._tags: set[int] = set()

    def tag(self, schema: Schema) -> int:
        """Return the schema's field number if it has a free one, else the next."""
        text = schema.parameters.get(connect_names.TAG, "")
        tag = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
        if not 0 < tag <= _TAG_MAX or tag in self._tags or 19_000 <= tag < 20_000:
            tag = max(self._tags, default=0) + 1
            tag = 20_000 if 19_000 <= tag < 20_000 else tag
        self._tags.add(tag)
        return tag

    def free(self, name: str) -> str:
        free_name, number = name, 1
        while free_name in self.known or free_name == self._own:
            number += 1
            free_name = f"{name}{number}"
        return free_name


def _is_plain(schema: Schema) -> bool:
    """Return whether its type in Protobuf alone says all of it."""
    is_own_type = schema.type not in (Type.INT8, Type.INT16) or schema.name in connect_names.LOGICAL
    parameters = _without_tag(schema)
    if schema.name in connect_names.LOGICAL:
        return schema.name != DECIMAL and not parameters and schema.doc is None and schema.version == 1
    return is_own_type and not parameters and (schema.name, schema.version, schema.doc) == (None, None, None)


def _without_tag(schema: Schema) -> dict[str, str]:
    return {key: value for key, value in schema.parameters.items() if key != connect_names.TAG}


def _type_params(schema: Schema) -> Mapping[str, object]:
    if schema.name in connect_names.LOGICAL:
        return {} if schema.version == 1 else {connect_names.VERSION: schema.version}
    small = {connect_names.TYPE: schema.type.value} if schema.type in (Type.INT8, Type.INT16) else {}
    return {**small, connect_names.NAME: schema.name, connect_names.VERSION: schema.version}


def _checked(name: str) -> str:
    if not _IDENTIFIER.fullmatch(name):
        raise DataError(f"Protobuf has no names like {name[:200]!r}")
    return name


def _quoted(text: str) -> str:
    """Control characters, quotes and all beyond ASCII as octal bytes."""
    try:
        data = text.encode()
    except UnicodeError as error:
        raise DataError(f"A text that is none: {error}") from None
    return (
        '"'
        + "".join(chr(number) if 32 <= number < 127 and number not in b'"\\' else f"\\{number:03o}" for number in data)
        + '"'
    )
