"""Which topics the members of a consumer group read: the one thing in their metadata that is ours to know (KIP-211).

Metadata of protocol type "consumer" begins with a version (int16) and the topics (an array of strings), whatever the
version. Metadata of other types is nobody's business but the members'.
"""

from broker.common.errors import InvariantViolation
from broker.coordinator.fields import FieldReader
from broker.coordinator.group.group import ClassicGroup

_CONSUMER = "consumer"


def is_consumer_group(group: ClassicGroup) -> bool:
    return group.protocol_type == _CONSUMER


def subscribed_topics(group: ClassicGroup) -> frozenset[str] | None:
    """Return the topics of all members in the protocol chosen; None if that cannot be known."""
    if not is_consumer_group(group):
        return None
    if not group.members:
        return frozenset()
    try:
        of_members = [_topics(member.protocols[group.chosen_protocol]) for member in group.members.values()]
    except (InvariantViolation, KeyError):
        return None
    return frozenset().union(*of_members)


def _topics(metadata: bytes) -> list[str]:
    reader = FieldReader(metadata)
    reader.int16()
    count = reader.int32()
    if count < 0:
        raise InvariantViolation("a subscription without topics")
    return [reader.string() for _ in range(count)]
