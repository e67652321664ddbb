"""io.confluent.connect.json.JsonSchemaConverter: values as JSON, their JSON Schemas in a registry."""

from collections.abc import Sequence
from typing import Any

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, DataError, Importance, Schema
from broker.connect.converters.json_text import DECIMAL_FORMAT, dump, load
from broker.connect.converters.registry.converter import Codec, EncodedSchema, RegistryConverter
from broker.connect.converters.registry.json_schema.decoder import read_schema
from broker.connect.converters.registry.json_schema.encoder import JsonSchemaWriter
from broker.connect.converters.registry.json_schema.values import SchemaValues
from broker.connect.converters.registry.settings import CONFIG, KEEPS_NULLS
from broker.registry.schema import NamedSchema


class JsonSchemaConverter(RegistryConverter):
    """Values are written by their own schema, also with use.latest.version: the latest one's id goes before them."""

    TYPE = "JSON"
    CONFIG = CONFIG + ConfigDef(
        DECIMAL_FORMAT,
        ConfigKey(
            "use.optional.for.nonrequired",
            ConfigType.BOOLEAN,
            False,
            Importance.MEDIUM,
            "Whether properties that are not required are optional, and fields that are not optional are required.",
        ),
        KEEPS_NULLS,
    )

    def _read_own(self, values: dict[str, Any]) -> None:
        self._is_numeric = values["decimal.format"].upper() == "NUMERIC"
        self._missing_is_null = values["use.optional.for.nonrequired"]
        self._keeps_nulls = values["ignore.default.for.nullables"]

    def _say(self, schema: Schema) -> EncodedSchema:
        return EncodedSchema(JsonSchemaWriter(self._is_numeric, self._missing_is_null).text(schema), schema.name)

    def _understand(self, text: str, referred: Sequence[NamedSchema], said_by: Schema | None) -> Codec:
        values = SchemaValues(self._is_numeric, self._keeps_nulls)
        schema = said_by or read_schema(text, referred, values, self._missing_is_null)
        return JsonSchemaCodec(schema, values, self._is_numeric)


class JsonSchemaCodec:
    def __init__(self, schema: Schema, values: SchemaValues, is_numeric: bool):
        self._schema, self._values, self._is_numeric = schema, values, is_numeric

    def encode(self, value: Any) -> bytes:
        return dump(self._values.to_json(self._schema, value), self._is_numeric)

    def decode(self, data: bytes) -> tuple[Schema, Any]:
        if not data:
            raise DataError("Not written by a JSON Schema: nothing stands behind the schema's id")
        return self._schema, self._values.from_json(self._schema, load(data, self._is_numeric))
