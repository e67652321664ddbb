"""Values as JSON's under a JSON Schema: those of JsonConverter, but for maps of other keys and for unions."""

from typing import Any

from broker.connect.api import DataError, Schema, Struct, Type
from broker.connect.converters.json_values import JsonValues, is_object
from broker.connect.converters.registry.json_schema import words


class SchemaValues(JsonValues):
    def _struct_to_json(self, schema: Schema, value: Any) -> Any:
        if schema.name != words.UNION:
            return super()._struct_to_json(schema, value)
        given = [each for each in schema.fields if isinstance(value, Struct) and value.get(each.name) is not None]
        if len(given) != 1:
            raise DataError("Invalid value: of a union exactly one field has a value")
        return self.to_json(given[0].schema, value[given[0].name])

    def _map_to_json(self, schema: Schema, value: dict[Any, Any]) -> Any:
        pairs = super()._map_to_json(schema, value)
        return pairs if is_object(schema) else [{"key": key, "value": each} for key, each in pairs]

    def from_json(self, schema: Schema, value: Any) -> Any:
        if value is None or schema.type is not Type.STRUCT or schema.name != words.UNION:
            return super().from_json(schema, value)
        for each in schema.fields:
            try:
                return Struct(schema, {each.name: self.from_json(each.schema, value)})
            except DataError:
                continue
        raise DataError("Invalid value: it fits no branch of a union")

    def _map_from_json(self, schema: Schema, value: Any) -> dict[Any, Any]:
        if not is_object(schema):
            if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
                raise DataError("Found invalid map entry: each must be an object of key and value")
            value = [[each.get("key"), each.get("value")] for each in value]
        return super()._map_from_json(schema, value)
