"""What the group coordinator is asked of consumer groups (KIP-848). A group id is of one type at a time."""

from collections.abc import Callable, Sequence

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.consumer_group.describing import describe
from broker.coordinator.consumer_group.group import ModernGroup
from broker.coordinator.consumer_group.groups import ConsumerGroups
from broker.coordinator.consumer_group.offsets import fetch_error
from broker.coordinator.consumer_group.records import decode_key
from broker.coordinator.group.answers import join_refused, sync_refused
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.membership import GroupMembership
from broker.coordinator.group.migration import downgraded, upgraded
from broker.coordinator.group.offsets import CommittedOffsets
from broker.coordinator.group.rebalance import Rebalance, propose
from broker.coordinator.group.records import encode_group_key
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.turns import GroupTurns
from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorRecord, CoordinatorTurn
from broker.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from broker.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.join_group import JoinGroupRequest
from broker.protocol.messages.sync_group import SyncGroupRequest


class ConsumerRequests(GroupTurns):
    _consumers: ConsumerGroups
    _groups: dict[str, ClassicGroup]
    _membership: GroupMembership
    _rebalance: Rebalance
    _offsets: CommittedOffsets

    @property
    def consumer_groups(self) -> ConsumerGroups:
        """The consumer groups; for reading only."""
        return self._consumers

    def consumer_group_heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        client: GroupClientInfo,
        token: int,
        now_ms: int,
        sees_topic: Callable[[str], bool] = lambda _: True,
    ) -> CoordinatorOutcome:
        """Join, go on or leave; the response shows what is committed.

        sees_topic: whether the client may describe a topic.
        """
        turn = self._turn(now_ms)
        try:
            response = self._consumers.heartbeat(
                request, client, turn, lambda: self._leave_classic(request.group_id), sees_topic
            )
            if (classic := self._groups.get(request.group_id)) is not None:
                self._membership.call_to_rejoin(classic, turn)
        except ApiError as error:
            turn.outcome.records.clear()
            refusal = ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
            turn.answer_at_once(token, refusal)
        else:
            turn.answer(token, response)
        return self._end(turn)

    def consumer_group_describe(
        self, request: ConsumerGroupDescribeRequest, token: int, now_ms: int
    ) -> CoordinatorOutcome:
        """Describe these groups, which must be of this coordinator."""
        turn = self._turn(now_ms)
        turn.answer(token, describe(request, self._consumers))
        return self._end(turn)

    def _fetch_error(self, group_id: str, member_id: str | None, member_epoch: int) -> ErrorCode:
        """Return the error of an OffsetFetch that names a member with its epoch, as those of consumer groups do."""
        group = self._consumers.get(group_id)
        return ErrorCode.NONE if group is None else fetch_error(group, member_id, member_epoch)

    def _group_or_new(self, group_id: str) -> ClassicGroup:
        if group_id not in self._groups:
            self._groups[group_id] = ClassicGroup(group_id, self._account)
        return self._groups[group_id]

    def _forget_if_void(self, group: ClassicGroup | None) -> None:
        if group is not None and group.is_void and group.group_id not in self._offsets:
            self._forget(group.group_id)

    def _forget(self, group_id: str) -> None:
        if (group := self._groups.pop(group_id, None)) is not None:
            self._rebalance.forget(group)
            group.holdings.let_go()

    def _forget_members(self, group_id: str) -> None:
        """Remember a classic group for its offsets alone, if it has any."""
        self._forget(group_id)
        if group_id in self._offsets:
            self._group_or_new(group_id).holdings.store()

    def _leave_classic(self, group_id: str) -> Sequence[CoordinatorRecord]:
        """Return the records by which a classic group becomes a consumer group; it keeps its offsets.

        Raises ApiError GROUP_ID_NOT_FOUND for one whose members may not migrate.
        """
        classic = self._groups.get(group_id)
        if classic is None:
            return ()
        if classic.members:
            return upgraded(classic, self._consumers.config, self._consumers.topics)
        if classic.metadata is None and classic.state is GroupState.EMPTY:
            return ()
        return (CoordinatorRecord(encode_group_key(group_id), None),)

    def _leave_consumers(self, group_id: str, turn: CoordinatorTurn) -> None:
        """The group is to be a classic one: a consumer group without members gives its name up."""
        group = self._consumers.get(group_id)
        if group is not None:
            self._consumers.delete(group, turn)

    def _stay_consumers(self, aborted: CoordinatorOutcome, error: ErrorCode, turn: CoordinatorTurn) -> None:
        """Consumer groups whose names could not be given up go on: who made classic groups of them is refused."""
        for record in aborted.records:
            key = decode_key(record.key)
            classic = self._groups.get(key.group_id) if key is not None and key.group_id in self._consumers else None
            if classic is not None and (classic.members or classic.pending_joins):
                self._membership.dismiss(classic, error, turn)
                self._forget_members(classic.group_id)

    def _downgrade(self, group: ModernGroup, turn: CoordinatorTurn) -> None:
        """A consumer group whose members all use the classic protocol becomes a classic one, and rebalances."""
        metadata, members = downgraded(group, self._consumers.topics, turn.now_ms, turn.wall_ms)
        self._consumers.delete(group, turn)
        classic = self._group_or_new(group.group_id)
        classic.next_assignments_owner = members[0].owner
        propose(classic, metadata, turn, members)
        self._rebalance.downgraded(classic, members, turn)
        turn.note("consumer group becomes a classic group", group_id=group.group_id)

    # -- members of the classic protocol ------------------------------------------------------------------------------

    def _join_consumers(
        self, request: JoinGroupRequest, client: GroupClientInfo, token: int, turn: CoordinatorTurn
    ) -> bool:
        """Let a member of the classic protocol join a consumer group; return False if there is none with members."""
        group = self._consumers.with_members(request.group_id)
        if group is None:
            return False
        try:
            response = self._consumers.classic.join(group, request, client, turn)
            (turn.answer_at_once if response.error_code else turn.answer)(token, response)
        except ApiError as error:
            turn.answer_at_once(token, join_refused(error.code, request.member_id, client.api_version))
        return True

    def _sync_with_consumers(
        self, group: ModernGroup, request: SyncGroupRequest, token: int, turn: CoordinatorTurn
    ) -> None:
        try:
            turn.answer(token, self._consumers.classic.sync(group, request, turn))
        except ApiError as error:
            turn.answer_at_once(token, sync_refused(error.code))

    def _heartbeat_among_consumers(
        self, group: ModernGroup, request: HeartbeatRequest, turn: CoordinatorTurn
    ) -> ErrorCode:
        try:
            return self._consumers.classic.heartbeat(group, request, turn)
        except ApiError as error:
            return error.code
