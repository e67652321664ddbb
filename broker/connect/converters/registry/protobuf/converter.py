"""io.confluent.connect.protobuf.ProtobufConverter: values as Protobuf messages, their schemas in a registry."""

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, DataError, Importance, Schema
from broker.connect.converters.registry.converter import Cache, Codec, EncodedSchema, RegistryConverter
from broker.connect.converters.registry.framing import index_bytes, split_indexes
from broker.connect.converters.registry.protobuf.decoder import MessageReader
from broker.connect.converters.registry.protobuf.encoder import name_of, proto_of
from broker.connect.converters.registry.protobuf.nodes import ProtobufNode, ProtobufOptions
from broker.connect.converters.registry.scrubbing import scrubbed_protobuf_name
from broker.connect.converters.registry.settings import CONFIG, KEEPS_NULLS, scrubs_names
from broker.registry.protobuf.schema import parse
from broker.registry.schema import NamedSchema

#: Messages of one file that are kept.
_MESSAGES_MAX = 100


class ProtobufConverter(RegistryConverter):
    """Structs alone. Defaults of fields that are null are written, not kept: proto3 has none of its own."""

    TYPE = "PROTOBUF"
    CONFIG = CONFIG + ConfigDef(
        ConfigKey(
            "optional.for.nullables",
            ConfigType.BOOLEAN,
            False,
            Importance.MEDIUM,
            "Whether fields that may be null are `optional`, and what is optional alone may be null.",
        ),
        ConfigKey(
            "wrapper.for.nullables",
            ConfigType.BOOLEAN,
            False,
            Importance.MEDIUM,
            "Whether fields that may be null are wrapper messages (google.protobuf.StringValue …).",
        ),
        KEEPS_NULLS,
        scrubs_names("Protobuf"),
    )

    def _read_own(self, values: dict[str, Any]) -> None:
        self._wrappers = values["wrapper.for.nullables"]
        rename = scrubbed_protobuf_name if values["scrub.invalid.names"] else str
        self._options = ProtobufOptions(
            values["optional.for.nullables"], values["ignore.default.for.nullables"], rename
        )

    def _say(self, schema: Schema) -> EncodedSchema:
        options = self._options
        text = proto_of(schema, uses_optional=options.uses_optional, wrappers=self._wrappers, rename=options.rename)
        return EncodedSchema(text, name_of(schema, options.rename))

    def _understand(self, text: str, referred: Sequence[NamedSchema], said_by: Schema | None) -> Codec:
        reader = MessageReader(parse(text, referred, is_new=False).files, self._options)
        path = reader.path_of(name_of(said_by, self._options.rename)) if said_by else None
        return ProtobufCodec(reader, path)


class ProtobufCodec:
    def __init__(self, reader: MessageReader, path: tuple[int, ...] | None):
        """`path`: of the message that is written."""
        self._reader, self._path = reader, path or (0,)
        self._messages: Cache[tuple[Any, ProtobufNode]] = Cache(_MESSAGES_MAX)

    def encode(self, value: Any) -> bytes:
        _, node = self._message(self._path)
        try:
            data: bytes = node.to(value).SerializeToString()
        except (ValueError, TypeError) as error:
            raise DataError(f"Failed to serialize Protobuf data: {error}") from None
        return index_bytes(self._path) + data

    def decode(self, data: bytes) -> tuple[Schema, Any]:
        path, payload = split_indexes(data)
        make, node = self._message(path)
        try:
            message = make.FromString(payload)
        except DecodeError as error:
            raise DataError(f"Failed to deserialize Protobuf data: {error}") from None
        return node.schema, node.of(node.schema, message)

    def _message(self, path: tuple[int, ...]) -> tuple[Any, ProtobufNode]:
        return self._messages.get_or_make(path, lambda: self._reader.message(path))
