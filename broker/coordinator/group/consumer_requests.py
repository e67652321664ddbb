"""What the group coordinator is asked of consumer groups (KIP-848). A group id is of one type at a time."""

from collections.abc import Callable

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.consumer_group.describing import describe
from broker.coordinator.consumer_group.groups import ConsumerGroups
from broker.coordinator.consumer_group.offsets import fetch_error
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.records import encode_group_key
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.turns import GroupTurns
from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorTurn
from broker.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from broker.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


class ConsumerRequests(GroupTurns):
    _consumers: ConsumerGroups
    _groups: dict[str, ClassicGroup]

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
                request, client, turn, lambda: self._leave_classic(request.group_id, turn), sees_topic
            )
        except ApiError as error:
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

    def _leave_classic(self, group_id: str, turn: CoordinatorTurn) -> None:
        """The group is to be a consumer group: a classic one without members gives its name up, and keeps its offsets.

        Raises ApiError GROUP_ID_NOT_FOUND, as Kafka where members may not migrate.
        """
        classic = self._groups.get(group_id)
        if classic is None:
            return
        if classic.state is not GroupState.EMPTY or classic.pending_joins or classic.proposal is not None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        if classic.metadata is not None:
            turn.append(encode_group_key(group_id), None)

    def _leave_consumers(self, group_id: str, turn: CoordinatorTurn) -> ErrorCode:
        """The group is to be a classic one: a consumer group without members gives its name up.

        Return the error of a member that is to join one that has some.
        """
        group = self._consumers.get(group_id)
        if group is None:
            return ErrorCode.NONE
        if group.members:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        self._consumers.delete(group, turn)
        return ErrorCode.NONE
