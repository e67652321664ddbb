"""Values as JSON's under a JSON Schema: those of JsonConverter, but for maps of other keys and for unions."""

from typing import Any

from broker.connect.api import DataError, Schema, Struct, Type
from broker.connect.converters.json_values import JsonValues, is_object
from broker.connect.converters.registry.json_schema import connect_names


class SchemaValues(JsonValues):
    """Values of Connect as JSON of a JSON Schema. `keeps_nulls` is ignore.default.for.nullables."""

    def __init__(self, numeric_decimals: bool, keeps_nulls: bool = False):
        super().__init__(numeric_decimals, replace_null=not keeps_nulls)

    def to_json(self, schema: Schema, value: Any) -> Any:
        if value is None and not schema.optional:
            value = schema.default
        return super().to_json(schema, value)

    def _struct_to_json(self, schema: Schema, value: Any) -> Any:
        if schema.name != connect_names.UNION:
            return super()._struct_to_json(schema, value)
        given = [field for field in schema.fields if isinstance(value, Struct) and value.get(field.name) is not None]
        if len(given) != 1:
            raise DataError("Invalid value: of a union exactly one field has a value")
        return self.to_json(given[0].schema, value[given[0].name])

    def _map_to_json(self, schema: Schema, value: dict[Any, Any]) -> Any:
        pairs = super()._map_to_json(schema, value)
        return pairs if is_object(schema) else [{"key": key, "value": pair} for key, pair in pairs]

    def from_json(self, schema: Schema, value: Any) -> Any:
        if value is None or schema.type is not Type.STRUCT or schema.name != connect_names.UNION:
            return super().from_json(schema, value)
        for field in schema.fields:
            try:
                return Struct(schema, {field.name: self.from_json(field.schema, value)})
            except DataError:
                continue
        raise DataError("Invalid value: it fits no branch of a union")

    def _map_from_json(self, schema: Schema, value: Any) -> dict[Any, Any]:
        if not is_object(schema):
            if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
                raise DataError("Found invalid map entry: each must be an object of key and value")
            value = [[item.get("key"), item.get("value")] for item in value]
        return super()._map_from_json(schema, value)
