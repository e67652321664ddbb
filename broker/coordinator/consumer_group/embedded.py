"""What members of the classic protocol embed in JoinGroup and SyncGroup: their subscription and their assignment.

    subscription   version, topics, user data; 1: owned partitions; 2: generation; 3: rack
    assignment     version, partitions by topic, user data

Classic encoding. A version above the last that is known begins with the same fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.coordinator.fields import FieldReader, FieldWriter

PROTOCOL_TYPE = "consumer"
#: The last version that is known.
_VERSION_MAX = 3

PartitionsByName = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class EmbeddedSubscription:
    version: int
    topics: frozenset[str]
    owned: PartitionsByName  #: empty before version 1
    rack_id: str | None


def decode_subscription(metadata: bytes) -> EmbeddedSubscription:
    """Raises InvariantViolation for bytes that are no subscription."""
    reader = FieldReader(metadata)
    version = min(reader.int16(), _VERSION_MAX)
    topics = frozenset(reader.string() for _ in range(reader.int32()))
    reader.nullable_bytes()
    owned = _decode_partitions(reader) if version >= 1 else {}
    if version >= 2:
        reader.int32()
    return EmbeddedSubscription(version, topics, owned, reader.nullable_string() if version >= 3 else None)


def decode_assignment(assignment: bytes) -> tuple[PartitionsByName, bytes]:
    """Return partitions and user data; nothing for no bytes. Raises InvariantViolation for bytes that are none."""
    if not assignment:
        return {}, b""
    reader = FieldReader(assignment)
    reader.int16()
    return _decode_partitions(reader), reader.nullable_bytes() or b""


def encode_assignment(partitions: PartitionsByName, version: int) -> bytes:
    """Return the assignment in the version of the member's subscription."""
    writer = FieldWriter().int16(max(0, min(version, _VERSION_MAX))).int32(len(partitions))
    for topic, indexes in sorted(partitions.items()):
        writer.string(topic).int32s(sorted(indexes))
    return writer.int32(-1).to_bytes()


def _decode_partitions(reader: FieldReader) -> PartitionsByName:
    partitions: dict[str, frozenset[int]] = {}
    for _ in range(reader.int32()):
        topic = reader.string()
        partitions[topic] = partitions.get(topic, frozenset()) | frozenset(reader.int32s())
    return partitions
