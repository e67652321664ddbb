"""io.confluent.connect.avro.AvroConverter: values as Avro, their schemas in a registry."""

import io
from collections.abc import Sequence
from typing import Any

import fastavro

from broker.connect.api import ConfigDef, DataError, Schema
from broker.connect.converters.registry.avro.decoder import AvroNode, AvroOptions, read_schema
from broker.connect.converters.registry.avro.encoder import avro_of, name_of
from broker.connect.converters.registry.converter import Codec, EncodedSchema, RegistryConverter
from broker.connect.converters.registry.scrubbing import scrubbed_name
from broker.connect.converters.registry.settings import CONFIG, KEEPS_NULLS, scrubs_names
from broker.registry.schema import NamedSchema


class AvroConverter(RegistryConverter):
    """Schemas that contain themselves are refused, and values without a schema."""

    TYPE = "AVRO"
    CONFIG = CONFIG + ConfigDef(KEEPS_NULLS, scrubs_names("Avro"))

    def _read_own(self, values: dict[str, Any]) -> None:
        self._scrubs = values["scrub.invalid.names"]
        rename = scrubbed_name if self._scrubs else None
        self._options = AvroOptions(rename, values["ignore.default.for.nullables"])

    def _say(self, schema: Schema) -> EncodedSchema:
        return EncodedSchema(avro_of(schema, self._scrubs), name_of(schema, self._scrubs))

    def _understand(self, text: str, referred: Sequence[NamedSchema], said_by: Schema | None) -> Codec:
        return AvroCodec(*read_schema(text, referred, self._options))


class AvroCodec:
    """Bytes alone stand as they are, without their length, as Confluent's serializers write them."""

    def __init__(self, node: AvroNode, is_raw: bool):
        self._node, self._is_raw = node, is_raw
        self._schema = fastavro.parse_schema(node.codec)

    def encode(self, value: Any) -> bytes:
        datum = self._node.encoded(value)
        if self._is_raw:
            return bytes(datum)
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, self._schema, datum)
        except Exception as error:  # fastavro raises what its parts raise
            raise DataError(f"Failed to serialize Avro data: {error!r:.500}") from None
        return out.getvalue()

    def decode(self, data: bytes) -> tuple[Schema, Any]:
        node = self._node
        if self._is_raw:
            return node.schema, node.decoded(data)
        return node.schema, node.decoded(self._read(data))

    def columns(self, payloads: Sequence[bytes]) -> tuple[Schema, list[list[Any]]] | None:
        node = self._node
        if not node.parts or node.schema.optional:
            return None
        rows = list(map(self._read, payloads))
        return node.schema, [part.decoded_together([row[name] for row in rows]) for name, part in node.parts]

    def _read(self, data: bytes) -> Any:
        try:
            return fastavro.schemaless_reader(io.BytesIO(data), self._schema, None)
        except Exception as error:  # fastavro raises what its parts raise
            raise DataError(f"Failed to deserialize Avro data: {error!r:.500}") from None
