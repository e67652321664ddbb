"""The records of consumer groups in `__consumer_offsets`, byte for byte those of Kafka 4.4.

    key 3     group                       value  group epoch, hash of what the subscribed topics are
    key 4     group                       value  of Kafka before 4.1; only its tombstone is written
    key 5     group, member               value  subscription and client
    key 6     group                       value  epoch of the target assignment, and when it was made
    key 7     group, member               value  target assignment
    key 8     group, member               value  member epoch, state, partitions with the epochs they were assigned in
    key 16    group, regular expression   value  topics it matched, when

Keys have a two-byte version and the classic encoding; values a two-byte version, 0, and the compact encoding with
tagged fields. A null value is a tombstone.
"""

from typing import NamedTuple, TypeVar
from uuid import UUID

from broker.common.errors import InvariantViolation, ProtocolError
from broker.coordinator.fields import FieldReader, FieldWriter
from broker.protocol.codec import decode, encode
from broker.protocol.schema import StoredValue, Struct, array, bytes_, int8, int32, int64, string, uuid, wire

GROUP_EPOCH, PARTITION_METADATA, MEMBER, TARGET_EPOCH, TARGET_MEMBER, CURRENT_MEMBER, PATTERN = 3, 4, 5, 6, 7, 8, 16

#: Version of every value.
_VERSION = 0
_OF_GROUP = {GROUP_EPOCH, PARTITION_METADATA, TARGET_EPOCH}
_OF_NAME = {MEMBER, TARGET_MEMBER, CURRENT_MEMBER, PATTERN}


class ConsumerGroupKey(NamedTuple):
    """The key of a record of a consumer group."""

    kind: int
    group_id: str
    name: str = ""  #: the member's id, or the regular expression


class GroupEpochValue(StoredValue, versions=(0, 0), flexible_from=0):
    epoch: int = wire(int32)
    metadata_hash: int = wire(int64, tag=0)  #: of the subscribed topics; another hash makes the group rebalance


class PartitionRacks(Struct):
    partition: int = wire(int32)
    racks: list[str] = wire(array(string))


class SubscribedTopicMetadata(Struct):
    topic_id: UUID = wire(uuid)
    topic_name: str = wire(string)
    num_partitions: int = wire(int32)
    partition_metadata: list[PartitionRacks] = wire(array(PartitionRacks))


class PartitionMetadataValue(StoredValue, versions=(0, 0), flexible_from=0):
    """Of Kafka before 4.1; here tools show it only."""

    topics: list[SubscribedTopicMetadata] = wire(array(SubscribedTopicMetadata))


class ClassicProtocol(Struct):
    name: str = wire(string)
    metadata: bytes = wire(bytes_)


class ClassicMemberMetadata(Struct):
    session_timeout_ms: int = wire(int32)
    supported_protocols: list[ClassicProtocol] = wire(array(ClassicProtocol))


class MemberValue(StoredValue, versions=(0, 0), flexible_from=0):
    instance_id: str | None = wire(string, nullable=True)
    rack_id: str | None = wire(string, nullable=True)
    client_id: str = wire(string)
    client_host: str = wire(string)
    subscribed_topic_names: list[str] = wire(array(string))  #: sorted
    subscribed_topic_regex: str | None = wire(string, nullable=True)
    rebalance_timeout_ms: int = wire(int32, default=-1)
    server_assignor: str | None = wire(string, nullable=True)
    classic_member_metadata: ClassicMemberMetadata | None = wire(
        ClassicMemberMetadata, nullable=True, tag=0, default=None
    )  #: of a member that uses the classic protocol


class TargetEpochValue(StoredValue, versions=(0, 0), flexible_from=0):
    assignment_epoch: int = wire(int32)
    assignment_timestamp: int = wire(int64, tag=0)  #: when the assignment was made (KIP-1263)


class TargetTopicPartitions(Struct):
    topic_id: UUID = wire(uuid)
    partitions: list[int] = wire(array(int32))


class TargetMemberValue(StoredValue, versions=(0, 0), flexible_from=0):
    topic_partitions: list[TargetTopicPartitions] = wire(array(TargetTopicPartitions))


class CurrentTopicPartitions(Struct):
    topic_id: UUID = wire(uuid)
    partitions: list[int] = wire(array(int32))
    #: Of each partition, the epoch in which the member got it; null in records of Kafka before 4.2.
    assignment_epochs: list[int] | None = wire(array(int32), nullable=True, tag=0, default=None)


class CurrentMemberValue(StoredValue, versions=(0, 0), flexible_from=0):
    member_epoch: int = wire(int32)
    previous_member_epoch: int = wire(int32)
    state: int = wire(int8)
    assigned_partitions: list[CurrentTopicPartitions] = wire(array(CurrentTopicPartitions))
    partitions_pending_revocation: list[CurrentTopicPartitions] = wire(array(CurrentTopicPartitions))


class PatternValue(StoredValue, versions=(0, 0), flexible_from=0):
    topics: list[str] = wire(array(string))
    version: int = wire(int64)  #: of the cluster's metadata it was matched against
    timestamp: int = wire(int64)


Value = TypeVar("Value", bound=StoredValue)


def encode_key(key: ConsumerGroupKey) -> bytes:
    writer = FieldWriter().int16(key.kind).string(key.group_id)
    return (writer.string(key.name) if key.kind in _OF_NAME else writer).to_bytes()


def decode_key(key: bytes) -> ConsumerGroupKey | None:
    """Return the key, None if it is of no consumer group. Raises InvariantViolation for bytes that are no key."""
    reader = FieldReader(key)
    kind = reader.int16()
    if kind in _OF_GROUP:
        return reader.last(ConsumerGroupKey(kind, reader.string()))
    if kind in _OF_NAME:
        return reader.last(ConsumerGroupKey(kind, reader.string(), reader.string()))
    return None


def encode_value(value: StoredValue) -> bytes:
    return _VERSION.to_bytes(2) + encode(value, _VERSION)


def decode_value(value_class: type[Value], value: bytes) -> Value:
    """Raises InvariantViolation for bytes that are no such value, or of another version."""
    version = int.from_bytes(value[:2])
    if version != _VERSION:
        raise InvariantViolation(
            f"{value_class.__name__} of version {version} in the offsets topic; {_VERSION} is known"
        )
    try:
        return decode(value_class, bytes(value[2:]), _VERSION)
    except ProtocolError as error:
        raise InvariantViolation(f"a record of a consumer group cannot be read: {error}") from None
