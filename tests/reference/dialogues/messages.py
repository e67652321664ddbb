"""Requests from JSON and responses as JSON, by the declarations of `broker/protocol/messages`."""

from typing import Any
from uuid import UUID

from broker.common.errors import ApiError, InvariantViolation
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages import MESSAGES
from broker.protocol.primitives import Array, Primitive
from broker.protocol.schema import Message, Struct
from broker.records.batch import CRC, CRC_AT, Compression, iterate_headers
from broker.records.builder import build_batch
from broker.records.control import parse_marker
from broker.records.record import Record, decode_records

#: Of records whose case names no time; ListOffsets looks it up.
FIRST_TIMESTAMP_MS = 1_700_000_000_000


class InvalidStep(Exception):
    """The step is no request: a shrunk case lost a part that it needs."""


def request_of(api: str, version: int, body: dict) -> Message:
    """Return the request; fields that this version lacks are left out. Raises InvalidStep."""
    try:
        request: Message = _struct_of(MESSAGES[ApiKey[api]].request, body, version)
    except (KeyError, TypeError, ValueError, AttributeError, InvariantViolation) as error:
        raise InvalidStep(str(error)) from error
    return request


def _struct_of(declared: type[Struct], node: dict, version: int) -> Any:
    fields = {field.name: field for field in declared.fields}
    values = {
        name: _value_of(fields[name].type, value, version)
        for name, value in node.items()
        if fields[name].exists_in(version)
    }
    return declared(**values)


def _value_of(wire_type: Any, node: Any, version: int) -> Any:
    if node is None:
        return None
    if isinstance(wire_type, Array):
        return [_value_of(wire_type.element, element, version) for element in node]
    if not isinstance(wire_type, Primitive):
        return _struct_of(wire_type, node, version)
    match wire_type.name:
        case "uuid":
            return UUID(node)
        case "bytes":
            return bytes.fromhex(node["hex"]) if isinstance(node, dict) else node.encode("latin-1")
        case "records":
            return b"".join(_batch_of(batch) for batch in node)
    return node


def _batch_of(node: dict) -> bytes:
    records = [
        Record(
            0,
            record.get("timestamp", FIRST_TIMESTAMP_MS + at),
            _bytes(record.get("key")),
            _bytes(record.get("value", "v")),
            tuple((name, _bytes(value)) for name, value in record.get("headers", ())),
        )
        for at, record in enumerate(node["records"])
    ]
    batch = build_batch(
        records,
        base_offset=node.get("base_offset", 0),
        compression=Compression[node.get("compression", "NONE")],
        producer_id=node.get("producer_id", -1),
        producer_epoch=node.get("producer_epoch", -1),
        base_sequence=node.get("base_sequence", -1),
        is_transactional=node.get("is_transactional", False),
        is_control=node.get("is_control", False),
    )
    for at, octet in node.get("patches", ()):
        batch[at] = octet
    if node.get("is_damaged"):
        CRC.pack_into(batch, CRC_AT, 1)
    return bytes(batch[: node.get("cut", len(batch))])


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def json_of(value: Any, version: int) -> Any:
    """Return a response as JSON: the fields of this version, record batches read."""
    if isinstance(value, Struct):
        return {
            field.name: _batches_json(getattr(value, field.name))
            if isinstance(field.type, Primitive) and field.type.name == "records"
            else json_of(getattr(value, field.name), version)
            for field in value.fields
            if field.exists_in(version)
        }
    if isinstance(value, list):
        return [json_of(element, version) for element in value]
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("latin-1")
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _batches_json(data: Any) -> list | None:
    if data is None:
        return None
    return [_batch_json(memoryview(data)[at : at + header.size_bytes], header) for at, header in iterate_headers(data)]


def _batch_json(batch: memoryview, header: Any) -> dict:
    node = {
        "base_offset": header.base_offset,
        "leader_epoch": header.partition_leader_epoch,
        "attributes": header.attributes,
        "last_offset_delta": header.last_offset_delta,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
    }
    try:
        if header.is_control and (marker := parse_marker(batch)) is not None:
            return {**node, "marker": marker.type.name}
        records = [
            [record.offset, record.timestamp_ms, _text(record.key), _text(record.value), _headers(record.headers)]
            for record in decode_records(batch)
        ]
    except ApiError as error:
        return {**node, "unreadable": error.code.name}
    return {**node, "records": records}


def _text(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).decode("latin-1")


def _headers(headers: Any) -> list:
    return [[name, _text(value)] for name, value in headers]
