"""Protobuf's messages by a descriptor that the registry hands out; the library bounds their depth (100). Pure."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import DecodeError, EncodeError

from console.cluster.schemas.errors import NotDecodedError, NotEncodedError, UnusableSchemaError

_INDEXES_MAX = 32
_MAIN = "barnabas-schema.proto"


class ProtobufText:
    """`referred`: import path → descriptor in base64, each after those it imports."""

    def __init__(self, text: str, referred: Mapping[str, str]):
        pool = descriptor_pool.DescriptorPool()
        try:
            for name, item in referred.items():
                add_file(pool, _described(item), name)
            main = _described(text)
            add_file(pool, main, _MAIN)
            self._file: Any = pool.FindFileByName(_MAIN)
        except (TypeError, KeyError, ValueError, DecodeError, binascii.Error) as error:
            raise UnusableSchemaError(f"its descriptor cannot be used: {error!s:.200}") from None

    def decode(self, data: bytes) -> object:
        """Decode a message. `data` begins with the path to the message's type. Raises NotDecodedError."""
        indexes, rest = _path(data)
        message = self._message(indexes)
        try:
            message.ParseFromString(rest)
            return json_format.MessageToDict(message, preserving_proto_field_name=True)
        except (DecodeError, ValueError, TypeError, RecursionError) as error:
            raise NotDecodedError(f"it is no {message.DESCRIPTOR.full_name}: {error!s:.200}") from None

    def encode(self, value: object) -> bytes:
        """Encode the value as the schema's first message. Raises NotEncodedError."""
        message = self._message([0])
        try:
            json_format.ParseDict(value, message)
            return b"\0" + message.SerializeToString()
        except (json_format.ParseError, EncodeError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise NotEncodedError(str(error)[:300]) from None

    def _message(self, indexes: list[int]) -> Any:
        among = list(self._file.message_types_by_name.values())
        descriptor = None
        for index in indexes:
            if not 0 <= index < len(among):
                raise NotDecodedError(f"message {index} of {len(among)}, which the schema does not have")
            descriptor = among[index]
            among = list(descriptor.nested_types)
        if descriptor is None:
            raise NotDecodedError("no message is named")
        return message_factory.GetMessageClass(descriptor)()


def _described(text: str) -> descriptor_pb2.FileDescriptorProto:
    return descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text, validate=True))


def add_file(pool: descriptor_pool.DescriptorPool, described: descriptor_pb2.FileDescriptorProto, name: str) -> None:
    """Add the file with the imports that Google ships. Raises KeyError, TypeError."""
    described.name = name
    for imported in described.dependency:
        try:
            pool.FindFileByName(imported)
        except KeyError:
            known = descriptor_pb2.FileDescriptorProto.FromString(_shipped(imported))
            add_file(pool, known, imported)
    pool.Add(described)


def _shipped(name: str) -> bytes:
    """Raises KeyError."""
    from google.protobuf import (  # noqa: F401  (each puts its file into the pool)
        any_pb2,
        duration_pb2,
        empty_pb2,
        field_mask_pb2,
        struct_pb2,
        timestamp_pb2,
        wrappers_pb2,
    )

    if not name.startswith("google/protobuf/"):
        raise KeyError(f"{name} is imported, and not among its references")
    return bytes(descriptor_pool.Default().FindFileByName(name).serialized_pb)


def _path(data: bytes) -> tuple[list[int], bytes]:
    """Read the message index: zigzag numbers, their count first; a zero alone is the first message."""
    count, at = _number(data, 0)
    if count == 0:
        return [0], data[at:]
    if not 0 < count <= _INDEXES_MAX:
        raise NotDecodedError(f"a path of {count} messages")
    indexes = []
    for _ in range(count):
        index, at = _number(data, at)
        indexes.append(index)
    return indexes, data[at:]


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        if at >= len(data):
            break
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1), at
    raise NotDecodedError("the path to its message does not end")
