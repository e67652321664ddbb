"""Who may commit and fetch offsets of a consumer group: its members, by their epochs."""

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.group import ModernGroup
from broker.coordinator.consumer_group.member import ConsumerGroupMember
from broker.coordinator.consumer_group.topics import TopicDirectory
from broker.protocol.messages.offset_commit import OffsetCommitRequest
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

#: From this version on OffsetCommit knows member epochs.
_EPOCHS_VERSION = 9
#: From this version on TxnOffsetCommit has STALE_MEMBER_EPOCH (KIP-1319).
_STALE_TXN_VERSION = 6


def commit_error(
    group: ModernGroup, request: OffsetCommitRequest, api_version: int, topics: TopicDirectory
) -> ErrorCode:
    """Return the error if this client may not commit for the group.

    A negative epoch says "I am no member": allowed to simple consumers and administrators while there are none. The
    epoch of a member of the classic protocol is its generation.
    """
    epoch = request.generation_id_or_member_epoch
    if epoch < 0 and not group.members:
        return ErrorCode.NONE
    member = group.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if api_version < _EPOCHS_VERSION and not member.is_classic:
        return ErrorCode.UNSUPPORTED_VERSION
    return ErrorCode.NONE if _may_commit(member, epoch, request, topics) else _stale(member)


def txn_commit_error(
    group: ModernGroup, request: TxnOffsetCommitRequest, api_version: int, topics: TopicDirectory
) -> ErrorCode:
    """Return the error if this producer may not commit for the group on behalf of a consumer.

    Producers that tell nothing of the consumer are fenced by their transactional id alone (KAFKA-18060).
    """
    names_member = bool(request.member_id) or request.group_instance_id is not None
    if request.generation_id < 0 and not (group.members and names_member):
        return ErrorCode.NONE
    member = group.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if _may_commit(member, request.generation_id, request, topics):
        return ErrorCode.NONE
    return _stale(member) if api_version >= _STALE_TXN_VERSION else ErrorCode.ILLEGAL_GENERATION


def fetch_error(group: ModernGroup, member_id: str | None, member_epoch: int) -> ErrorCode:
    """Return the error if the request names a member that the group does not have, or another epoch of it."""
    if member_id is None and member_epoch < 0:
        return ErrorCode.NONE
    member = group.members.get(member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if member.epoch == member_epoch else _stale(member)


def _stale(member: ConsumerGroupMember) -> ErrorCode:
    return ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH


def _may_commit(
    member: ConsumerGroupMember,
    epoch: int,
    request: OffsetCommitRequest | TxnOffsetCommitRequest,
    topics: TopicDirectory,
) -> bool:
    """Whether the epoch is the member's, or one since which it has had all these partitions (KIP-1251).

    So a commit that was on its way when the epoch changed is not lost.
    """
    if epoch == member.epoch:
        return True
    if not 0 <= epoch < member.epoch:
        return False
    for topic in request.topics:
        named = topics.named(topic.name)
        epochs = member.assigned.get(named.topic_id, {}) if named is not None else {}
        pending = member.pending_revocation.get(named.topic_id, {}) if named is not None else {}
        for partition in topic.partitions:
            since = epochs.get(partition.partition_index, pending.get(partition.partition_index))
            if since is None or epoch < since:
                return False
    return True
