"""A schema of Connect as one of Avro. Pure."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from broker.connect.api import DataError, Schema, Type
from broker.connect.api.schema import DECIMAL
from broker.connect.converters.json_schema_form import DEPTH_MAX
from broker.connect.converters.logical import scale_of
from broker.connect.converters.registry.avro import connect_names
from broker.connect.converters.registry.avro.defaults import default_to_json, has_text_keys
from broker.connect.converters.registry.scrubbing import scrubbed_name

_PRIMITIVES = {
    Type.INT8: "int",
    Type.INT16: "int",
    Type.INT32: "int",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOLEAN: "boolean",
    Type.STRING: "string",
    Type.BYTES: "bytes",
}


def avro_of(schema: Schema, scrubs: bool = False) -> str:
    """Return the text; with `scrubs` in names that Avro takes (scrub.invalid.names). Raises DataError."""
    encoder = _AvroSchemaEncoder(scrubbed_name if scrubs else str)
    return json.dumps(encoder.say(schema, 0), separators=(",", ":"))


def name_of(schema: Schema, scrubs: bool = False) -> str | None:
    """Return the Avro name of a struct or enum; None for all else."""
    if schema.type is not Type.STRUCT:
        return None
    name = schema.name or connect_names.DEFAULT_NAME
    return ".".join(map(scrubbed_name, name.split("."))) if scrubs else name


class _AvroSchemaEncoder:
    def __init__(self, rename: Callable[[str], str]) -> None:
        """`rename` is for each part of a name that Avro checks."""
        self._rename = rename
        #: A named type is said once and spoken of by its name from then on.
        self._named: dict[str, Schema | None] = {}

    def say(self, schema: Schema, depth: int) -> Any:
        if depth > DEPTH_MAX:
            raise DataError(f"A schema of more than {DEPTH_MAX} levels")
        plain = self._plain(schema, depth)
        if not schema.optional:
            return plain
        branches = plain if isinstance(plain, list) else [plain]
        return [*branches, "null"] if schema.default is not None else ["null", *branches]

    def _plain(self, schema: Schema, depth: int) -> Any:
        if schema.type is Type.STRUCT:
            if schema.name == connect_names.UNION:
                return [self.say(replace(field.schema, optional=False), depth + 1) for field in schema.fields]
            return self._record(schema, depth)
        if connect_names.ENUM in schema.parameters and schema.type is Type.STRING:
            return self._enum(schema)
        if connect_names.FIXED_SIZE in schema.parameters and schema.type is Type.BYTES:
            return self._fixed(schema)
        document: dict[str, Any] = {"type": _PRIMITIVES.get(schema.type, "array")}
        if schema.type is Type.ARRAY and schema.value_schema:
            document["items"] = self.say(schema.value_schema, depth + 1)
        elif schema.type is Type.MAP and schema.value_schema and has_text_keys(schema):
            document = {"type": "map", "values": self.say(schema.value_schema, depth + 1)}
        elif schema.type is Type.MAP:
            document["items"] = self._entries(schema, depth)
        elif schema.type in (Type.INT8, Type.INT16):
            document[connect_names.TYPE] = schema.type.value
        document |= _logical(schema) | _about(schema)
        if schema.default is not None:
            document[connect_names.DEFAULT] = default_to_json(schema, schema.default, self._rename)
        return document if len(document) > 1 else document["type"]

    def _record(self, schema: Schema, depth: int) -> Any:
        known = replace(schema, optional=False, default=None)
        said_as = self._full(schema.name or "")
        if said_as and self._is_said(said_as, known):
            return said_as
        name = said_as or self._free(connect_names.DEFAULT_NAME)
        self._named[name] = known
        document: dict[str, Any] = {"type": "record", **_split(name)}
        document["fields"] = [self._field(field.name, field.schema, depth) for field in schema.fields]
        return document | _about(schema)

    def _field(self, name: str, schema: Schema, depth: int) -> dict[str, Any]:
        document = {"name": self._rename(name), "type": self.say(schema, depth + 1)}
        if schema.default is not None:
            document["default"] = default_to_json(schema, schema.default, self._rename)
        elif schema.optional:
            document["default"] = None
        return document

    def _enum(self, schema: Schema) -> Any:
        name, prefix = self._full(schema.parameters[connect_names.ENUM]), f"{connect_names.ENUM}."
        known = replace(schema, optional=False, default=None)
        if self._is_said(name, known):
            return name
        self._named[name] = known
        symbols = [key.removeprefix(prefix) for key in schema.parameters if key.startswith(prefix)]
        return {"type": "enum", **_split(name), "symbols": symbols} | _about(schema)

    def _fixed(self, schema: Schema) -> Any:
        own = self._full(schema.name or "") if schema.name != DECIMAL else ""
        name = own or self._free(f"{connect_names.SPACE}.ConnectFixed")
        known = replace(schema, optional=False, default=None)
        if self._is_said(name, known):
            return name
        self._named[name] = known
        try:
            size = int(schema.parameters[connect_names.FIXED_SIZE])
        except ValueError:
            raise DataError(f"Invalid schema: {connect_names.FIXED_SIZE} is no number") from None
        return {"type": "fixed", **_split(name), "size": size} | _logical(schema) | _about(schema)

    def _entries(self, schema: Schema, depth: int) -> Any:
        """Return the entries of a map whose keys are no texts."""
        if schema.key_schema is None or schema.value_schema is None:
            raise DataError("A map without the schemas of its keys and values")
        first = f"{connect_names.SPACE}.{connect_names.MAP_ENTRY}"
        name = self._free(self._full(schema.name or first))
        self._named[name] = None
        marked = {} if name == first else {connect_names.INTERNAL_TYPE: connect_names.MAP_ENTRY}
        fields = [self._field("key", schema.key_schema, depth), self._field("value", schema.value_schema, depth)]
        return {"type": "record", **_split(name), "fields": fields, **marked}

    def _full(self, name: str) -> str:
        return ".".join(map(self._rename, name.split(".")))

    def _is_said(self, name: str, schema: Schema) -> bool:
        if name not in self._named:
            return False
        if self._named[name] != schema:
            raise DataError(f"Two schemas of different content have the name {name}, which Avro has no words for")
        return True

    def _free(self, name: str) -> str:
        free_name, number = name, 1
        while free_name in self._named:
            number += 1
            free_name = f"{name}{number}"
        return free_name


def _split(name: str) -> dict[str, str]:
    space, _, local = name.rpartition(".")
    return {"name": local, "namespace": space}


def _logical(schema: Schema) -> dict[str, Any]:
    word = connect_names.LOGICAL.get(schema.name or "")
    if word is None:
        return {}
    if schema.name != DECIMAL:
        return {"logicalType": word}
    precision = schema.parameters.get(connect_names.PRECISION, str(connect_names.PRECISION_DEFAULT))
    if not precision.isascii() or not precision.isdigit():
        raise DataError(f"Invalid schema: {connect_names.PRECISION} is no number")
    return {"logicalType": word, "precision": int(precision), "scale": scale_of(schema)}


def _about(schema: Schema) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    if schema.doc is not None:
        properties[connect_names.DOC] = schema.doc
    if schema.version is not None:
        properties[connect_names.VERSION] = schema.version
    if schema.parameters:
        properties[connect_names.PARAMETERS] = dict(schema.parameters)
    if schema.name is not None:
        properties[connect_names.NAME] = schema.name
    return properties
