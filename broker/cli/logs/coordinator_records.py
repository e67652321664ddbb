"""The records that coordinators keep in internal topics, as Kafka's tools of today show them: JSON on one line. Pure.

What is no such record, or of a version that is not known here, is shown as what it is: its version, and `unknown`.
"""

import base64
import json
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from broker.common.errors import InvariantViolation
from broker.coordinator.consumer_group import records as consumer_records
from broker.coordinator.consumer_group.embedded import PROTOCOL_TYPE
from broker.coordinator.fields import FieldReader
from broker.coordinator.group import records as group_records
from broker.coordinator.group.records import CommittedOffset, GroupKey, GroupMetadata, OffsetKey
from broker.coordinator.transaction import records as transaction_records
from broker.protocol.schema import StoredValue, Struct

#: Of a record without a value: the key is forgotten.
DELETE = "<DELETE>"
_UNKNOWN = "unknown"

#: Kind of a key of consumer groups: what its second name is called, and its value.
_OF_CONSUMER_GROUPS: dict[int, tuple[str, type[StoredValue]]] = {
    consumer_records.GROUP_EPOCH: ("", consumer_records.GroupEpochValue),
    consumer_records.PARTITION_METADATA: ("", consumer_records.PartitionMetadataValue),
    consumer_records.MEMBER: ("memberId", consumer_records.MemberValue),
    consumer_records.TARGET_EPOCH: ("", consumer_records.TargetEpochValue),
    consumer_records.TARGET_MEMBER: ("memberId", consumer_records.TargetMemberValue),
    consumer_records.CURRENT_MEMBER: ("memberId", consumer_records.CurrentMemberValue),
    consumer_records.PATTERN: ("regularExpression", consumer_records.PatternValue),
}

Shown = tuple[str | None, str | None]


def dumped_offsets_record(key: bytes | None, value: bytes | None) -> Shown:
    """Return key and payload of a record of `__consumer_offsets`; as Kafka's dump, with what consumers subscribe to."""
    return offsets_record(key, value, is_embedded_shown=True)


def offsets_record(key: bytes | None, value: bytes | None, *, is_embedded_shown: bool = False) -> Shown:
    """Return key and payload of a record of `__consumer_offsets`.

    is_embedded_shown: whether the subscriptions and assignments of a classic group of consumers are decoded.
    """
    if key is None:
        return None, None
    try:
        decoded_key = group_records.decode_key(key)
    except InvariantViolation:
        decoded_key = None
    if isinstance(decoded_key, OffsetKey):
        data = {
            "group": decoded_key.group_id,
            "topic": decoded_key.partition.topic,
            "partition": decoded_key.partition.partition,
        }
        return _versioned(key, data), _payload(value, _offset_value)
    if isinstance(decoded_key, GroupKey):
        shape = partial(_group_value, is_embedded_shown=is_embedded_shown)
        return _versioned(key, {"group": decoded_key.group_id}), _payload(value, shape)
    if (of_consumers := _consumer_record(key, value)) is not None:
        return of_consumers
    return _versioned(key, _UNKNOWN), _payload(value, lambda _: _UNKNOWN)


def _consumer_record(key: bytes, value: bytes | None) -> Shown | None:
    """Return key and payload of a record of a consumer group (KIP-848); None for one of another kind."""
    try:
        decoded_key = consumer_records.decode_key(key)
    except InvariantViolation:
        return None
    if decoded_key is None:
        return None
    name, value_class = _OF_CONSUMER_GROUPS[decoded_key.kind]
    data = {"groupId": decoded_key.group_id} | ({name: decoded_key.name} if name else {})
    return _versioned(key, data), _payload(
        value, lambda encoded: _as_json(consumer_records.decode_value(value_class, encoded))
    )


def _as_json(value: Any) -> Any:
    """Return a value as Kafka's converters do: without tagged fields that are at their defaults."""
    match value:
        case Struct():
            return {
                _camel_case(field.name): _as_json(getattr(value, field.name))
                for field in value.fields
                if field.tag is None or getattr(value, field.name) != field.new_default()
            }
        case list():
            return [_as_json(item) for item in value]
        case UUID():
            return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()
        case bytes() | memoryview():
            return _base64(bytes(value))
        case _:
            return value


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def transaction_record(key: bytes | None, value: bytes | None) -> Shown:
    """Key and payload of a record of `__transaction_state`."""
    if key is None:
        return None, None
    try:
        transactional_id = transaction_records.decode_key(key)
    except InvariantViolation:
        transactional_id = None
    if transactional_id is None:
        return _versioned(key, _UNKNOWN), _payload(value, lambda _: _UNKNOWN)
    return _versioned(key, {"transactionalId": transactional_id}), _payload(value, _transaction_value)


def _versioned(data: bytes, shown: Any) -> str:
    version = int.from_bytes(data[:2], signed=True)
    return json.dumps({"type": str(version), "data": shown}, separators=(",", ":"), ensure_ascii=False)


def _payload(value: bytes | None, show: Any) -> str:
    if value is None:
        return DELETE
    try:
        data = show(value)
    except InvariantViolation:
        data = _UNKNOWN
    version = int.from_bytes(value[:2], signed=True)
    return json.dumps({"version": str(version), "data": data}, separators=(",", ":"), ensure_ascii=False)


def _offset_value(value: bytes) -> dict[str, Any]:
    committed: CommittedOffset = group_records.decode_offset_value(value)
    version = int.from_bytes(value[:2])
    shown: dict[str, Any] = {"offset": committed.offset}
    if version >= 3:
        shown["leaderEpoch"] = committed.leader_epoch
    shown |= {"metadata": committed.metadata, "commitTimestamp": committed.commit_timestamp_ms}
    return shown | ({"expireTimestamp": committed.expire_timestamp_ms} if version == 1 else {})


def _group_value(value: bytes, *, is_embedded_shown: bool) -> dict[str, Any]:
    group: GroupMetadata = group_records.decode_group_value(value)
    version = int.from_bytes(value[:2])
    shown: dict[str, Any] = {
        "protocolType": group.protocol_type,
        "generation": group.generation_id,
        "protocol": group.protocol_name,
        "leader": group.leader_id,
    }
    if version >= 2:
        shown["currentStateTimestamp"] = group.state_timestamp_ms
    is_decoded = is_embedded_shown and group.protocol_type == PROTOCOL_TYPE
    shown["members"] = [_member(member, version, is_decoded=is_decoded) for member in group.members]
    return shown


def _member(member: group_records.MemberMetadata, version: int, *, is_decoded: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"memberId": member.member_id}
    if version >= 3:
        shown["groupInstanceId"] = member.group_instance_id
    shown |= {"clientId": member.client_id, "clientHost": member.client_host}
    if version >= 1:
        shown["rebalanceTimeout"] = member.rebalance_timeout_ms
    return shown | {
        "sessionTimeout": member.session_timeout_ms,
        "subscription": _embedded(member.subscription, _subscription, is_decoded=is_decoded),
        "assignment": _embedded(member.assignment, _assignment, is_decoded=is_decoded),
    }


def _embedded(data: bytes, decode: Callable[[FieldReader], dict[str, Any]], *, is_decoded: bool) -> Any:
    try:
        return decode(FieldReader(data)) if is_decoded and data else _base64(data)
    except InvariantViolation:
        return _base64(data)


def _subscription(reader: FieldReader) -> dict[str, Any]:
    version = reader.int16()
    topics = [reader.string() for _ in range(reader.int32())]
    shown: dict[str, Any] = {"topics": topics, "userData": _base64(reader.nullable_bytes())}
    if version >= 1:
        shown["ownedPartitions"] = _partitions(reader)
    if version >= 2:
        shown["generationId"] = reader.int32()
    return shown | ({"rackId": reader.nullable_string()} if version >= 3 else {})


def _assignment(reader: FieldReader) -> dict[str, Any]:
    reader.int16()
    return {"assignedPartitions": _partitions(reader), "userData": _base64(reader.nullable_bytes())}


def _partitions(reader: FieldReader) -> list[dict[str, Any]]:
    return [{"topic": reader.string(), "partitions": list(reader.int32s())} for _ in range(reader.int32())]


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _transaction_value(value: bytes) -> dict[str, Any]:
    decoded = transaction_records.decode_value("", value)
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(decoded.partitions):
        topics.setdefault(topic, []).append(partition)
    partitions = [{"topic": topic, "partitionIds": numbers} for topic, numbers in topics.items()]
    return {
        "producerId": decoded.producer_id,
        "producerEpoch": decoded.producer_epoch,
        "transactionTimeoutMs": decoded.timeout_ms,
        "transactionStatus": decoded.state.number,
        "transactionPartitions": partitions or None,
        "transactionLastUpdateTimestampMs": decoded.updated_ms,
        "transactionStartTimestampMs": decoded.started_ms,
    }
