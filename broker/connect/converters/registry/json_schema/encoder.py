"""A schema of Connect as a JSON Schema. Pure."""

from typing import Any

from broker.connect.api import DataError, Schema, Type
from broker.connect.api.schema import DECIMAL
from broker.connect.converters.json_schema_form import DEPTH_MAX
from broker.connect.converters.json_text import dump
from broker.connect.converters.json_values import is_object
from broker.connect.converters.registry.json_schema import connect_names
from broker.connect.converters.registry.json_schema.values import SchemaValues

_JSON = {
    Type.BOOLEAN: "boolean",
    Type.STRING: "string",
    Type.BYTES: "string",
    Type.FLOAT32: "number",
    Type.FLOAT64: "number",
    Type.ARRAY: "array",
    Type.STRUCT: "object",
}


class JsonSchemaWriter:
    """`says_required`: use.optional.for.nonrequired, so that what may be left out is what is optional."""

    def __init__(self, numeric_decimals: bool, says_required: bool):
        self._numeric_decimals, self._says_required = numeric_decimals, says_required
        self._values = SchemaValues(numeric_decimals)

    def text(self, schema: Schema) -> str:
        """Raises DataError."""
        return dump(self._say(schema, 0), self._numeric_decimals).decode()

    def _say(self, schema: Schema, depth: int) -> dict[str, Any]:
        if depth > DEPTH_MAX:
            raise DataError(f"A schema of more than {DEPTH_MAX} levels")
        if schema.name == connect_names.UNION and schema.type is Type.STRUCT:
            branches = [self._plain(field.schema, depth + 1) for field in schema.fields]
            return {
                "title": connect_names.UNION,
                "oneOf": [*([{"type": "null"}] if schema.optional else []), *branches],
            }
        document = self._plain(schema, depth)
        return {"oneOf": [{"type": "null"}, document]} if schema.optional else document

    def _plain(self, schema: Schema, depth: int) -> dict[str, Any]:
        document: dict[str, Any] = {"type": _JSON.get(schema.type, "integer")}
        inner = schema.value_schema
        if schema.type in (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64, Type.BYTES):
            document[connect_names.TYPE] = schema.type.value
            if schema.name == DECIMAL and self._numeric_decimals:
                document["type"] = "number"
        elif schema.type is Type.ARRAY and inner:
            document["items"] = self._say(inner, depth + 1)
        elif schema.type is Type.MAP and inner and schema.key_schema:
            document = self._map(schema, schema.key_schema, inner, depth)
        elif schema.type is Type.STRUCT:
            document |= self._members([(field.name, field.schema) for field in schema.fields], depth)
        return document | self._about(schema)

    def _map(self, schema: Schema, keys: Schema, values: Schema, depth: int) -> dict[str, Any]:
        if is_object(schema):
            return {"type": "object", connect_names.TYPE: "map", "additionalProperties": self._say(values, depth + 1)}
        entry = {"type": "object", **self._members([("key", keys), ("value", values)], depth)}
        return {"type": "array", connect_names.TYPE: "map", "items": entry}

    def _members(self, members: list[tuple[str, Schema]], depth: int) -> dict[str, Any]:
        document: dict[str, Any] = {
            "properties": {
                name: {**self._say(schema, depth + 1), connect_names.INDEX: at}
                for at, (name, schema) in enumerate(members)
            }
        }
        required = [name for name, schema in members if not schema.optional and schema.default is None]
        return document | ({"required": required} if self._says_required and required else {})

    def _about(self, schema: Schema) -> dict[str, Any]:
        document: dict[str, Any] = {}
        if schema.name is not None:
            document["title"] = schema.name
        if schema.version is not None:
            document[connect_names.VERSION] = schema.version
        if schema.doc is not None:
            document["description"] = schema.doc
        if schema.parameters:
            document[connect_names.PARAMETERS] = dict(schema.parameters)
        if schema.default is not None:
            document["default"] = self._values.to_json(schema, schema.default)
        return document
