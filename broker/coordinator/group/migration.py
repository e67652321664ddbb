"""A group that changes between the classic and the consumer protocol while it has members (KIP-848).

An upgraded group goes on in the epoch that was its generation, and each member has what the last assignment gave it. A
downgraded one goes on in the generation that was its members' epoch, without a leader: so its members are to rebalance.
"""

from collections.abc import Callable, Iterable
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.coordinator.consumer_group import records
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.embedded import (
    PROTOCOL_TYPE,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from broker.coordinator.consumer_group.group import ModernGroup
from broker.coordinator.consumer_group.member import (
    ClassicMembership,
    ConsumerGroupMember,
    MemberSubscription,
    Owned,
    target_to_value,
)
from broker.coordinator.consumer_group.records import (
    ConsumerGroupKey,
    GroupEpochValue,
    TargetEpochValue,
    encode_key,
    encode_value,
)
from broker.coordinator.consumer_group.topics import TopicDirectory, hash_of
from broker.coordinator.group.group import ClassicGroup, choose_protocol
from broker.coordinator.group.member import ClassicMember
from broker.coordinator.group.records import GroupMetadata, encode_group_key
from broker.coordinator.outcome import CoordinatorRecord
from broker.coordinator.recorded_owners import encode_owner
from broker.protocol.schema import StoredValue

#: Assignors of Kafka and of librdkafka, whose user data of a sticky assignment only say who had what before. Kafka
#: upgrades no group with user data.
_KNOWN_ASSIGNORS = {"range", "roundrobin", "sticky", "cooperative-sticky"}
_CANNOT = "Cannot upgrade classic group {} to consumer group because "


def upgraded(group: ClassicGroup, config: ConsumerGroupConfig, topics: TopicDirectory) -> list[CoordinatorRecord]:
    """Return the records by which the group becomes a consumer group.

    Raises ApiError GROUP_ID_NOT_FOUND, with Kafka's sentences, for one that may not.
    """
    cannot = _CANNOT.format(group.group_id)
    if not config.group_consumer_migration_policy.allows_upgrade:
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"{cannot}online upgrade is disabled.")
    if group.protocol_type != PROTOCOL_TYPE:
        message = "the group does not use the consumer embedded protocol."
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, cannot + message)
    if len(group.members) > config.group_consumer_max_size:
        message = "the group size exceeds the consumer group maximum size."
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, cannot + message)
    taken: set[tuple[UUID, int]] = set()
    try:
        members = [_modern(group, member, topics, taken) for member in group.members.values()]
    except InvariantViolation:
        message = "the embedded consumer protocol is malformed."
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, cannot + message) from None
    names = frozenset[str]().union(*(member.subscription.topic_names for member in members))
    metadata_hash = hash_of(topic for topic in map(topics.named, names) if topic is not None)
    return [CoordinatorRecord(encode_group_key(group.group_id), None), *_records_of(group, members, metadata_hash)]


def _modern(
    group: ClassicGroup, member: ClassicMember, topics: TopicDirectory, taken: set[tuple[UUID, int]]
) -> ConsumerGroupMember:
    """taken: partitions that other members have, which a defective leader may have assigned twice."""
    preferred = next(iter(member.protocols.values()))
    embedded = decode_subscription(member.protocols.get(group.chosen_protocol, preferred))
    partitions, user_data = decode_assignment(group.assignments.get(member.member_id, b""))
    if user_data and group.protocol_name not in _KNOWN_ASSIGNORS:
        message = (
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default "
            "assignor before re-attempting the upgrade."
        )
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, _CANNOT.format(group.group_id) + message)
    assigned: dict[UUID, dict[int, int]] = {}
    for name, indexes in partitions.items():
        if (topic := topics.named(name)) is not None and (
            free := {index for index in indexes if (topic.topic_id, index) not in taken}
        ):
            assigned[topic.topic_id] = dict.fromkeys(free, group.generation_id)
            taken.update((topic.topic_id, index) for index in free)
    return ConsumerGroupMember(
        member_id=member.member_id,
        subscription=MemberSubscription(
            instance_id=member.group_instance_id,
            rack_id=embedded.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            topic_names=embedded.topics,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            classic=ClassicMembership(member.session_timeout_ms, tuple(member.protocols.items())),
        ),
        epoch=group.generation_id,
        previous_epoch=group.generation_id,
        assigned=assigned,
        owner=member.owner,
    )


def _records_of(
    group: ClassicGroup, members: list[ConsumerGroupMember], metadata_hash: int
) -> Iterable[CoordinatorRecord]:
    def record(
        kind: int, name: str, value: StoredValue, member: ConsumerGroupMember | None = None
    ) -> CoordinatorRecord:
        key = encode_key(ConsumerGroupKey(kind, group.group_id, name))
        return CoordinatorRecord(key, encode_value(value), encode_owner(member.owner) if member else ())

    epoch = group.generation_id
    yield record(records.GROUP_EPOCH, "", GroupEpochValue(epoch=epoch, metadata_hash=metadata_hash), members[0])
    for member in members:
        target = {topic_id: frozenset(epochs) for topic_id, epochs in member.assigned.items()}
        yield record(records.MEMBER, member.member_id, member.subscription.to_value(), member)
        yield record(records.TARGET_MEMBER, member.member_id, target_to_value(target))
    yield record(records.TARGET_EPOCH, "", TargetEpochValue(assignment_epoch=epoch, assignment_timestamp=0))
    for member in members:
        yield record(records.CURRENT_MEMBER, member.member_id, member.to_value())


def downgraded(
    group: ModernGroup, topics: TopicDirectory, now_ms: int, wall_ms: int
) -> tuple[GroupMetadata, list[ClassicMember]]:
    """Return the generation, and the members, of the classic group that a group of classic members becomes."""
    members = [_classic(member, now_ms) for member in group.members.values()]
    protocol_name = choose_protocol(members)
    metadata = GroupMetadata(
        protocol_type=PROTOCOL_TYPE,
        generation_id=max(member.epoch for member in group.members.values()),
        protocol_name=protocol_name,
        leader_id=None,
        state_timestamp_ms=wall_ms,
        members=tuple(
            member.recorded(
                protocol_name,
                _assignment(group.members[member.member_id].assigned, member.protocols[protocol_name], topics.name_of),
            )
            for member in members
        ),
    )
    return metadata, members


def _classic(member: ConsumerGroupMember, now_ms: int) -> ClassicMember:
    subscription, classic = member.subscription, member.subscription.classic
    if classic is None:
        raise InvariantViolation(f"member {member.member_id} of a group to downgrade uses the consumer protocol")
    return ClassicMember(
        member_id=member.member_id,
        group_instance_id=subscription.instance_id,
        client_id=subscription.client_id,
        client_host=subscription.client_host,
        session_timeout_ms=classic.session_timeout_ms,
        rebalance_timeout_ms=subscription.rebalance_timeout_ms,
        protocols=dict(classic.protocols),
        joined_at_ms=now_ms,
        owner=member.owner,
    )


def _assignment(assigned: Owned, metadata: bytes, name_of: Callable[[UUID], str | None]) -> bytes:
    named = ((name_of(topic_id), epochs) for topic_id, epochs in assigned.items())
    partitions = {topic: frozenset(epochs) for topic, epochs in named if topic is not None}
    return encode_assignment(partitions, decode_subscription(metadata).version)
