"""The records of `__consumer_offsets`, byte for byte those of Kafka 3.9, so that its tools can read ours.

Keys and values start with a two-byte version; the rest is the classic (not compact) encoding: strings with a two-byte
length, bytes and arrays with a four-byte one, -1 for null.

    key 0, 1   group, topic, partition          value 0  offset, metadata, commit time
                                                      1  … and expiry time
                                                      2  as 0
                                                      3  leader epoch after the offset
    key 2      group                            value 0  protocol type, generation, protocol, leader, members
                                                      1  rebalance timeout of members
                                                      2  time of the last change of state
                                                      3  group.instance.id of members

Written: keys 1 and 2, values 3; an offset with its own expiry time needs value 1, the only one with room for it. A null
value is a tombstone. Keys of later versions are of other types of
groups (`consumer_group/records.py`).
"""

from dataclasses import dataclass
from struct import Struct
from struct import error as StructError
from typing import NamedTuple
from uuid import UUID

from broker.common.errors import InvariantViolation
from broker.common.types import NO_LEADER_EPOCH, NO_TOPIC_ID, TopicPartition, new_tuple
from broker.coordinator.fields import FieldReader, FieldWriter, text_bytes
from broker.coordinator.group.memory import MEMBER_BYTES

NO_TIMESTAMP = -1

_INT16, _INT32, _INT64 = Struct(">h"), Struct(">i"), Struct(">q")
#: Version, length of the group id.
_OFFSET_KEY_HEAD = Struct(">hh")
#: Of version 3: version, offset, leader epoch, length of the metadata.
_OFFSET_VALUE_HEAD = Struct(">hqih")


class OffsetKey(NamedTuple):
    group_id: str
    partition: TopicPartition


class GroupKey(NamedTuple):
    group_id: str


class CommittedOffset(NamedTuple):
    """What a group committed for one partition."""

    offset: int  #: the next offset to read
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_timestamp_ms: int = NO_TIMESTAMP
    expire_timestamp_ms: int = NO_TIMESTAMP  #: only from clients that choose a retention themselves (OffsetCommit 2-4)
    topic_id: UUID = NO_TOPIC_ID  #: of the topic it was committed for, as a header of the record says


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """A member of a recorded generation."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes  #: the member's metadata for the chosen protocol
    assignment: bytes

    @property
    def size_bytes(self) -> int:
        """The approximate size of the member in memory, without its assignment."""
        names = self.member_id + self.client_id + (self.group_instance_id or "")
        return MEMBER_BYTES + text_bytes(names) + len(self.subscription)


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """A recorded generation; without members, that the group is empty."""

    protocol_type: str
    generation_id: int
    protocol_name: str | None
    leader_id: str | None
    state_timestamp_ms: int
    members: tuple[MemberMetadata, ...] = ()


def encode_offset_key(key: OffsetKey) -> bytes:
    group_id, topic = key.group_id.encode(), key.partition.topic.encode()
    head = _OFFSET_KEY_HEAD.pack(1, len(group_id))
    return b"".join((head, group_id, _INT16.pack(len(topic)), topic, _INT32.pack(key.partition.partition)))


def encode_group_key(group_id: str) -> bytes:
    return FieldWriter().int16(2).string(group_id).to_bytes()


def decode_key(key: bytes) -> OffsetKey | GroupKey | None:
    """Return the key, or None if its version is none of the classic ones. Raises InvariantViolation for bytes that are
    no key.

    Nearly all are version 1, and a coordinator's load reads each of them, so that one is read by hand.
    """
    try:
        version, group_length = _OFFSET_KEY_HEAD.unpack_from(key)
        topic_at = _OFFSET_KEY_HEAD.size + group_length
        if version == 1 and group_length >= 0:
            (topic_length,) = _INT16.unpack_from(key, topic_at)
            end = topic_at + _INT16.size + topic_length
            if topic_length >= 0 and end + _INT32.size == len(key):
                topic = str(key[topic_at + _INT16.size : end], "utf-8")
                partition = new_tuple(TopicPartition, (topic, *_INT32.unpack_from(key, end)))
                return new_tuple(OffsetKey, (str(key[_OFFSET_KEY_HEAD.size : topic_at], "utf-8"), partition))
    except (StructError, UnicodeDecodeError):
        pass
    return _decode_any_key(key)


def _decode_any_key(key: bytes) -> OffsetKey | GroupKey | None:
    reader = FieldReader(key)
    version = reader.int16()
    if version in (0, 1):
        return reader.last(OffsetKey(reader.string(), TopicPartition(reader.string(), reader.int32())))
    if version == 2:
        return reader.last(GroupKey(reader.string()))
    return None


def encode_offset_value(value: CommittedOffset) -> bytes:
    metadata = value.metadata.encode()
    if value.expire_timestamp_ms == NO_TIMESTAMP:
        head = _OFFSET_VALUE_HEAD.pack(3, value.offset, value.leader_epoch, len(metadata))
        return b"".join((head, metadata, _INT64.pack(value.commit_timestamp_ms)))
    writer = FieldWriter().int16(1).int64(value.offset).string(value.metadata).int64(value.commit_timestamp_ms)
    return writer.int64(value.expire_timestamp_ms).to_bytes()


def decode_offset_value(value: bytes, topic_id: UUID = NO_TOPIC_ID) -> CommittedOffset:
    """Raises InvariantViolation for bytes that are no such value. Nearly all are version 3: read by hand, as keys."""
    try:
        version, offset, leader_epoch, length = _OFFSET_VALUE_HEAD.unpack_from(value)
        end = _OFFSET_VALUE_HEAD.size + length
        if version == 3 and length >= 0 and end + _INT64.size == len(value):
            metadata = str(value[_OFFSET_VALUE_HEAD.size : end], "utf-8") if length else ""
            timestamp_ms = _INT64.unpack_from(value, end)[0]
            return new_tuple(CommittedOffset, (offset, leader_epoch, metadata, timestamp_ms, NO_TIMESTAMP, topic_id))
    except (StructError, UnicodeDecodeError):
        pass
    return _decode_any_offset_value(value, topic_id)


def _decode_any_offset_value(value: bytes, topic_id: UUID) -> CommittedOffset:
    reader = FieldReader(value)
    version = _known_version(reader, "offset commit")
    return reader.last(
        CommittedOffset(
            offset=reader.int64(),
            leader_epoch=reader.int32() if version >= 3 else NO_LEADER_EPOCH,
            metadata=reader.string(),
            commit_timestamp_ms=reader.int64(),
            expire_timestamp_ms=reader.int64() if version == 1 else NO_TIMESTAMP,
            topic_id=topic_id,
        )
    )


def encode_group_value(value: GroupMetadata) -> bytes:
    writer = FieldWriter().int16(3).string(value.protocol_type).int32(value.generation_id)
    writer.nullable_string(value.protocol_name).nullable_string(value.leader_id)
    writer.int64(value.state_timestamp_ms).int32(len(value.members))
    for member in value.members:
        writer.string(member.member_id).nullable_string(member.group_instance_id)
        writer.string(member.client_id).string(member.client_host)
        writer.int32(member.rebalance_timeout_ms).int32(member.session_timeout_ms)
        writer.bytes_(member.subscription).bytes_(member.assignment)
    return writer.to_bytes()


def decode_group_value(value: bytes) -> GroupMetadata:
    """Raises InvariantViolation for bytes that are no such value."""
    reader = FieldReader(value)
    version = _known_version(reader, "group metadata")
    return reader.last(
        GroupMetadata(
            protocol_type=reader.string(),
            generation_id=reader.int32(),
            protocol_name=reader.nullable_string(),
            leader_id=reader.nullable_string(),
            state_timestamp_ms=reader.int64() if version >= 2 else NO_TIMESTAMP,
            members=tuple(_decode_member(reader, version) for _ in range(reader.int32())),
        )
    )


def _decode_member(reader: FieldReader, version: int) -> MemberMetadata:
    member_id = reader.string()
    group_instance_id = reader.nullable_string() if version >= 3 else None
    client_id, client_host = reader.string(), reader.string()
    rebalance_timeout_ms = reader.int32() if version >= 1 else -1
    session_timeout_ms = reader.int32()
    return MemberMetadata(
        member_id=member_id,
        group_instance_id=group_instance_id,
        client_id=client_id,
        client_host=client_host,
        rebalance_timeout_ms=session_timeout_ms if rebalance_timeout_ms == -1 else rebalance_timeout_ms,
        session_timeout_ms=session_timeout_ms,
        subscription=reader.bytes_(),
        assignment=reader.bytes_(),
    )


def _known_version(reader: FieldReader, what: str) -> int:
    version = reader.int16()
    if not 0 <= version <= 3:
        raise InvariantViolation(f"{what} value of version {version} in the offsets topic; 0 to 3 are known")
    return version
