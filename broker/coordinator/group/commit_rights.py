"""Who may commit offsets of a classic group."""

from broker.common.errors import ErrorCode
from broker.common.limits import GROUP_NAME_LENGTH_MAX
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.states import GroupState
from broker.protocol.messages.offset_commit import OffsetCommitRequest
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

#: OffsetCommit with GROUP_ID_NOT_FOUND (KIP-848).
_NO_GROUP_VERSION = 9
#: TxnOffsetCommit with GROUP_ID_NOT_FOUND (KIP-1319).
_NO_GROUP_TXN_VERSION = 6


def commit_error(group: ClassicGroup | None, request: OffsetCommitRequest, api_version: int) -> ErrorCode:
    """Return the error if this client may not commit for the group; None as group: unknown so far.

    A generation of -1 says "I am no member": allowed to simple consumers and administrators while there are none.
    """
    if len(request.group_id) > GROUP_NAME_LENGTH_MAX:
        return ErrorCode.INVALID_GROUP_ID
    generation_id = request.generation_id_or_member_epoch
    if group is None or group.state is GroupState.EMPTY:
        if generation_id < 0 or group is not None:
            return ErrorCode.NONE if generation_id < 0 else ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.GROUP_ID_NOT_FOUND if api_version >= _NO_GROUP_VERSION else ErrorCode.ILLEGAL_GENERATION
    if generation_id < 0 and not request.member_id and request.group_instance_id is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.error_of(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    completing = group.state is GroupState.COMPLETING_REBALANCE
    return ErrorCode.REBALANCE_IN_PROGRESS if completing else ErrorCode.NONE


def txn_commit_error(group: ClassicGroup | None, request: TxnOffsetCommitRequest, api_version: int) -> ErrorCode:
    """Return the error if this producer may not commit for the group on behalf of a consumer.

    Producers that tell nothing of the consumer (before KIP-447, or generation -1 without ids) are fenced by their
    transactional id alone, and may commit whoever is in the group.
    """
    if not request.group_id or len(request.group_id) > GROUP_NAME_LENGTH_MAX:
        return ErrorCode.INVALID_GROUP_ID
    names_member = bool(request.member_id) or request.group_instance_id is not None
    if request.generation_id < 0 and (not names_member or group is None or group.state is GroupState.EMPTY):
        return ErrorCode.NONE
    if group is None:
        is_known = api_version >= _NO_GROUP_TXN_VERSION
        return ErrorCode.GROUP_ID_NOT_FOUND if is_known else ErrorCode.ILLEGAL_GENERATION
    error = group.error_of(request.member_id, request.group_instance_id)
    if error is ErrorCode.NONE and request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return error
