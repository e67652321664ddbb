"""org.apache.kafka.connect.json.JsonConverter: JSON, alone or in an envelope with its schema."""

from collections.abc import Sequence
from typing import Any

from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    DataError,
    Header,
    Importance,
    Schema,
    ValueAndHeaderConverter,
)
from broker.connect.api.config import Width, between
from broker.connect.api.plugin import Props
from broker.connect.converters.json_columns import EnvelopeColumns
from broker.connect.converters.json_schema_form import schema_from_json, schema_to_json
from broker.connect.converters.json_text import DECIMAL_FORMAT, dump, load
from broker.connect.converters.json_values import JsonValues, has_decimals, schemaless_to_json

_BLANKS = b" \t\n\r"


class JsonConverter(ValueAndHeaderConverter):
    """With `schemas.enable` a value is `{"schema": …, "payload": …}`, without it the payload alone."""

    CONFIG = ConfigDef(
        DECIMAL_FORMAT,
        ConfigKey(
            "schemas.enable",
            ConfigType.BOOLEAN,
            True,
            Importance.HIGH,
            "Include schemas within each of the serialized values and keys.",
            group="Schemas",
            order=0,
            width=Width.MEDIUM,
            display_name="Enable Schemas",
        ),
        ConfigKey(
            "schemas.cache.size",
            ConfigType.INT,
            1000,
            Importance.HIGH,
            "The maximum number of schemas that can be cached in this converter instance.",
            between(1, 100_000),
            group="Schemas",
            order=1,
            width=Width.MEDIUM,
            display_name="Schema Cache Size",
        ),
        ConfigKey(
            "replace.null.with.default",
            ConfigType.BOOLEAN,
            True,
            Importance.LOW,
            "Whether a null of a field that has a default is written and read as that default.",
            group="Serialization",
            order=1,
            width=Width.MEDIUM,
            display_name="Replace null with default",
        ),
    )

    def __init__(self) -> None:
        self.configure({}, False)

    def configure(self, props: Props, is_key: bool = False) -> None:
        values = self.CONFIG.parse(props)
        self._with_schemas: bool = values["schemas.enable"]
        self._cache_size: int = values["schemas.cache.size"]
        self._is_numeric = values["decimal.format"].upper() == "NUMERIC"
        self._values = JsonValues(self._is_numeric, values["replace.null.with.default"])
        self._written: dict[int, tuple[Schema | None, bytes]] = {}
        self._read: dict[bytes, Schema | None] = {}
        self._columns = EnvelopeColumns(self._schema, self._values.from_json)

    def from_connect(self, topic: str, headers: Sequence[Header], schema: Schema | None, value: Any) -> bytes | None:
        if schema is None and value is None:
            return None
        document = self._values.to_json(schema, value) if schema else schemaless_to_json(value)
        payload = dump(document, self._is_numeric)
        if not self._with_schemas:
            return payload
        return b'{"schema":%b,"payload":%b}' % (self._schema_bytes(schema), payload)

    def to_connect(self, topic: str, headers: Sequence[Header], data: bytes | None) -> tuple[Schema | None, Any]:
        if data is None:
            return None, None
        if not self._with_schemas:
            return None, load(data, False) if data.strip(_BLANKS) else None
        read = load(data, self._is_numeric)
        if not isinstance(read, dict) or read.keys() != {"schema", "payload"}:
            raise DataError(
                'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain '
                "additional fields. If you are trying to deserialize plain JSON data, set schemas.enable=false in your "
                "converter configuration."
            )
        schema = self._schema(read["schema"])
        if schema is None:
            return None, load(data, False)["payload"]
        if not self._is_numeric and has_decimals(schema):
            read = load(data, True)  # a double has not the digits that a decimal may have
        return schema, self._values.from_json(schema, read["payload"])

    def to_columns(self, topic: str, values: Sequence[bytes]) -> tuple[Schema, list[list[Any]]] | None:
        if not self._with_schemas or self._is_numeric:
            return None
        return self._columns.read(values)

    def _schema_bytes(self, schema: Schema | None) -> bytes:
        """Return the schema's JSON, cached by identity: comparing schemas costs more than writing them. The cache keeps
        the schema alive, so its id stays its own.
        """
        cached = self._written.get(id(schema))
        if cached is None:
            if len(self._written) >= self._cache_size:
                self._written.clear()
            document = None if schema is None else schema_to_json(schema, self._values.to_json)
            cached = self._written[id(schema)] = (schema, dump(document, self._is_numeric))
        return cached[1]

    def _schema(self, document: Any) -> Schema | None:
        if document is None:
            return None
        key = dump(document, self._is_numeric)
        if key not in self._read:
            if len(self._read) >= self._cache_size:
                self._read.clear()
            self._read[key] = schema_from_json(document, self._values.from_json)
        return self._read[key]
