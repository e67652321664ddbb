"""Whether a request may make a broker's groups hold more, by what its client holds already."""

from broker.common.errors import ErrorCode
from broker.common.shared_budget import REFUSED
from broker.coordinator.consumer_group import offsets as of_consumers
from broker.coordinator.consumer_group.groups import ConsumerGroups
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.commit_rights import commit_error, txn_commit_error
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.memory import GroupMemory, GroupMemoryAccount, group_bytes
from broker.coordinator.group.offsets import AnyCommitRequest, CommittedOffsets
from broker.coordinator.outcome import CoordinatorTurn
from broker.protocol.messages.offset_commit import OffsetCommitRequest
from broker.protocol.messages.sync_group import SyncGroupRequest
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest


class Admission:
    def __init__(
        self,
        memory: GroupMemory,
        account: GroupMemoryAccount,
        offsets: CommittedOffsets,
        consumers: ConsumerGroups,
    ):
        self._consumers = consumers
        self._memory = memory
        self._account = account
        self._offsets = offsets

    def may_assign(self, group: ClassicGroup, request: SyncGroupRequest, turn: CoordinatorTurn) -> bool:
        """Return whether there is memory for the leader's assignments, counted for its client.

        Assignments that take no more than those before are never refused: the group goes on.
        """
        leader = group.members.get(request.member_id)
        if leader is None or request.member_id != group.leader_id:
            return True
        before = group.assignment_bytes
        after = sum(len(assignment.assignment) for assignment in request.assignments)
        owner_before = group.holdings.assignments_owner
        growth = after - before if leader.owner == owner_before else after
        if self._memory.may_join(leader.owner, growth, is_group_there=group.is_there):
            group.next_assignments_owner = leader.owner
            return True
        if owner_before is not None and after <= before:
            return True
        self._memory.refuse(self._memory.members, leader.owner, turn.wall_ms)
        return False

    def begin_commit(
        self, group: ClassicGroup | None, request: OffsetCommitRequest, client: GroupClientInfo, turn: CoordinatorTurn
    ) -> ErrorCode:
        """Return NONE if the client may commit: what is replayed in this turn is charged to it.

        POLICY_VIOLATION if it holds its share: clients hand that on, and do not try again for a minute.
        """
        consumers = self._consumers.get(request.group_id)
        if consumers is None:
            error = commit_error(group, request, client.api_version)
        else:
            error = of_consumers.commit_error(consumers, request, client.api_version, self._consumers.topics)
        if error is ErrorCode.NONE and not self._begin(group, request, client, turn):
            return ErrorCode.POLICY_VIOLATION
        return error

    def begin_txn_commit(
        self,
        group: ClassicGroup | None,
        request: TxnOffsetCommitRequest,
        client: GroupClientInfo,
        turn: CoordinatorTurn,
    ) -> ErrorCode:
        """Begin as `begin_commit`, but retriable: POLICY_VIOLATION would fail a transactional producer for good."""
        consumers = self._consumers.get(request.group_id)
        if consumers is None:
            error = txn_commit_error(group, request, client.api_version)
        else:
            error = of_consumers.txn_commit_error(consumers, request, client.api_version, self._consumers.topics)
        if error is ErrorCode.NONE and not self._begin(group, request, client, turn):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return error

    def _begin(
        self, group: ClassicGroup | None, request: AnyCommitRequest, client: GroupClientInfo, turn: CoordinatorTurn
    ) -> bool:
        is_classic = group is not None and group.protocol_type is not None
        has_had_members = is_classic or request.group_id in self._consumers
        growth = self._offsets.growth(request)
        if growth > 0 and not self._account.has_stored(request.group_id):
            growth += group_bytes(request.group_id)
        if self._account.begin_commit(request.group_id, client.owner, growth, has_had_members=has_had_members):
            return True
        budget = self._memory.group_offsets if has_had_members else self._memory.simple_offsets
        self._memory.refuse(budget, client.owner, turn.wall_ms)
        return False

    def end_turn(self, turn: CoordinatorTurn) -> None:
        if facts := self._memory.refusals_to_log(turn.now_ms):
            turn.warn(REFUSED, **facts)
