"""What tools ask of a group coordinator, of groups of every type."""

from collections.abc import Iterable

from broker.common.errors import InvariantViolation
from broker.common.types import TopicIdPartition
from broker.coordinator.group import administration
from broker.coordinator.group.consumer_requests import ConsumerRequests
from broker.coordinator.group.expiry import Expiry
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.offsets import CommittedOffsets
from broker.coordinator.outcome import CoordinatorOutcome
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.list_groups import ListGroupsRequest
from broker.protocol.messages.offset_delete import OffsetDeleteRequest


class AdministrativeRequests(ConsumerRequests):
    _offsets: CommittedOffsets
    _expiry: Expiry

    def describe_groups(self, request: DescribeGroupsRequest, token: int, now_ms: int) -> CoordinatorOutcome:
        """Describe these groups, which must be of this coordinator."""
        turn = self._turn(now_ms)
        turn.answer_at_once(token, administration.describe(request, self._groups, self._consumers))
        return self._end(turn)

    def list_groups(self, request: ListGroupsRequest, token: int, now_ms: int) -> CoordinatorOutcome:
        turn = self._turn(now_ms)
        turn.answer_at_once(token, administration.list_those(request, self._groups.values(), self._consumers))
        return self._end(turn)

    def delete_groups(self, request: DeleteGroupsRequest, token: int, now_ms: int) -> CoordinatorOutcome:
        """Delete these groups, which must be of this coordinator."""
        turn = self._turn(now_ms)
        turn.answer(token, administration.delete(request, self._groups, self._consumers, self._offsets, turn))
        return self._end(turn)

    def offset_delete(self, request: OffsetDeleteRequest, token: int, now_ms: int) -> CoordinatorOutcome:
        turn = self._turn(now_ms)
        group = self._group(request.group_id)
        turn.answer(token, administration.delete_offsets(request, group, self._consumers, self._offsets, turn))
        return self._end(turn)

    def partitions_deleted(self, partitions: Iterable[TopicIdPartition], now_ms: int) -> CoordinatorOutcome:
        """Have the next `tick` forget the committed offsets of deleted `partitions`; `deleted` has been told."""
        turn = self._turn(now_ms)
        self._expiry.partitions_deleted(partitions, turn.now_ms)
        return self._end(turn)

    def _group(self, group_id: str) -> ClassicGroup | None:
        if (group := self._groups.get(group_id)) is not None and group.proposal is not None:
            raise InvariantViolation(f"group {group_id}: its record was neither replayed nor aborted")
        return group
