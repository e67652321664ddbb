"""Whether a request may make a broker's groups hold more, by what its client holds already."""

from broker.common.errors import ErrorCode
from broker.coordinator.group.client import Client
from broker.coordinator.group.group import Group
from broker.coordinator.group.memory import Account, GroupMemory
from broker.coordinator.group.offsets import AnyCommitRequest, Offsets, commit_error, txn_commit_error
from broker.coordinator.outcome import Turn
from broker.protocol.messages.offset_commit import OffsetCommitRequest
from broker.protocol.messages.sync_group import SyncGroupRequest
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest


class Admission:
    def __init__(self, memory: GroupMemory, account: Account, offsets: Offsets):
        self._memory = memory
        self._account = account
        self._offsets = offsets

    def may_assign(self, group: Group, request: SyncGroupRequest, client: Client, turn: Turn) -> bool:
        """An assignment that takes no more than the one before is never refused: the group goes on."""
        assignment_bytes = sum(len(each.assignment) for each in request.assignments)
        if self._memory.may_assign(client.owner) or not group.takes_more(assignment_bytes):
            return True
        self._memory.refuse(self._memory.members, client.owner, turn.wall_ms)
        return False

    def begin_commit(self, group: Group | None, request: OffsetCommitRequest, client: Client, turn: Turn) -> ErrorCode:
        """NONE if the client may commit: what is replayed in this turn is counted for it.

        POLICY_VIOLATION if it holds its share: clients hand that on, and do not try again for a minute.
        """
        error = commit_error(group, request)
        if error is ErrorCode.NONE and not self._begin(group, request, client, turn):
            return ErrorCode.POLICY_VIOLATION
        return error

    def begin_txn_commit(
        self, group: Group | None, request: TxnOffsetCommitRequest, client: Client, turn: Turn
    ) -> ErrorCode:
        """As `begin_commit`; but POLICY_VIOLATION would end the producer for good, so it is told to try again."""
        error = txn_commit_error(group, request)
        if error is ErrorCode.NONE and not self._begin(group, request, client, turn):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return error

    def _begin(self, group: Group | None, request: AnyCommitRequest, client: Client, turn: Turn) -> bool:
        has_had_members = group is not None and group.protocol_type is not None
        budget = self._memory.group_offsets if has_had_members else self._memory.simple_offsets
        if not budget.has_room_for(client.owner) and self._offsets.takes_more(request):
            self._memory.refuse(budget, client.owner, turn.wall_ms)
            return False
        self._account.begin_commit(request.group_id, budget, client.owner)
        return True

    def end_turn(self, turn: Turn) -> None:
        if facts := self._memory.refusals_to_log(turn.now_ms):
            turn.warn("a client holds its share of the groups' memory: what would take more is refused", **facts)
