"""A member of a group, of whatever protocol type: it joins, gets its part, says that it is there, and leaves."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from broker.client.cluster import ClusterConnections
from broker.client.connection import BrokerConnection
from broker.client.coordinators import MOVED
from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.protocol.messages.find_coordinator import CoordinatorType, FindCoordinatorRequest
from broker.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from broker.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from broker.protocol.schema import Request

#: The newest version that asks for one key.
_FIND_ONE = 3
#: Above the rebalance timeout, for the answer's way.
_SPARE_S = 5.0

_Answer = TypeVar("_Answer", JoinGroupResponse, SyncGroupResponse, HeartbeatResponse, LeaveGroupResponse)


@dataclass(frozen=True, slots=True)
class JoinedGroup:
    """`members` is every member's metadata for the leader, and empty for others."""

    generation: int
    member_id: str
    leader_id: str
    protocol: str
    members: dict[str, bytes]

    @property
    def is_leader(self) -> bool:
        return self.member_id == self.leader_id


class MembershipClient:
    """Group membership, used by one thread. Each call raises ApiError as the coordinator says, or BrokerUnreachable;
    after UNKNOWN_MEMBER_ID the next `join` is that of a new member. A coordinator that has moved is looked for by the
    next call.
    """

    def __init__(
        self,
        cluster: ClusterConnections,
        group_id: str,
        protocol_type: str,
        *,
        session_timeout_ms: int,
        rebalance_timeout_ms: int,
    ):
        self._cluster = cluster
        self._group_id = group_id
        self._protocol_type = protocol_type
        self._session_timeout_ms = session_timeout_ms
        self._rebalance_timeout_ms = rebalance_timeout_ms
        self._coordinator: tuple[str, int] | None = None
        self._generation = -1
        self._protocol: str | None = None
        self.member_id = ""
        #: When the last request was sent that the coordinator has answered as this member's, on the monotonic clock.
        self.heard_at = float("-inf")

    def join(self, protocols: Sequence[tuple[str, bytes]]) -> JoinedGroup:
        """Blocks until the others have joined, too: as long as the rebalance timeout."""
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=self._session_timeout_ms,
            rebalance_timeout_ms=self._rebalance_timeout_ms,
            member_id=self.member_id,
            protocol_type=self._protocol_type,
            protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in protocols],
        )
        try:
            answer = self._ask(request, timeout_s=self._rebalance_timeout_ms / 1000 + _SPARE_S)
        except _Numbered as numbered:
            # KIP-394: the first answer only says who we are.
            self.member_id = numbered.member_id
            return self.join(protocols)
        self.member_id, self._generation, self._protocol = answer.member_id, answer.generation_id, answer.protocol_name
        members = {member.member_id: bytes(member.metadata) for member in answer.members}
        return JoinedGroup(answer.generation_id, answer.member_id, answer.leader, answer.protocol_name or "", members)

    def sync(self, assignments: Mapping[str, bytes]) -> bytes:
        """Send SyncGroup and return this member's assignment; the leader passes `assignments` for all members."""
        request = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=self._generation,
            member_id=self.member_id,
            protocol_type=self._protocol_type,
            protocol_name=self._protocol,
            assignments=[SyncGroupRequestAssignment(member_id=m, assignment=data) for m, data in assignments.items()],
        )
        answer = self._ask(request, timeout_s=self._rebalance_timeout_ms / 1000 + _SPARE_S)
        return bytes(answer.assignment)

    def heartbeat(self) -> None:
        """Raise ApiError(REBALANCE_IN_PROGRESS) when the member has to join again."""
        self._ask(
            HeartbeatRequest(group_id=self._group_id, generation_id=self._generation, member_id=self.member_id),
            timeout_s=self._session_timeout_ms / 1000,
        )

    def leave(self) -> None:
        if not self.member_id:
            return
        member_id, self.member_id = self.member_id, ""
        self._ask(
            LeaveGroupRequest(
                group_id=self._group_id, member_id=member_id, members=[MemberIdentity(member_id=member_id)]
            ),
            timeout_s=_SPARE_S,
        )

    def _ask(self, request: Request[_Answer], *, timeout_s: float) -> _Answer:
        sent_at = time.monotonic()
        try:
            answer = self._connection().ask(request, timeout_s=timeout_s)
        except BrokerUnreachable:
            self._forget()
            raise
        code = error_code_of(answer.error_code)
        if code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS):
            self.heard_at = sent_at
        if code is ErrorCode.NONE:
            return answer
        if code in MOVED:
            self._coordinator = None
        elif code is ErrorCode.MEMBER_ID_REQUIRED and isinstance(answer, JoinGroupResponse):
            raise _Numbered(answer.member_id)
        elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            self.member_id = "" if code is ErrorCode.UNKNOWN_MEMBER_ID else self.member_id
            self.heard_at = float("-inf")
        raise ApiError(code, f"group {self._group_id}: {code.meaning}")

    def _connection(self) -> BrokerConnection:
        if self._coordinator is None:
            request = FindCoordinatorRequest(key=self._group_id, key_type=CoordinatorType.GROUP)
            response = self._cluster.ask_any(request, version_max=_FIND_ONE)
            if response.error_code:
                raise ApiError(error_code_of(response.error_code))
            self._coordinator = response.host, response.port
        return self._cluster.connection(*self._coordinator)

    def _forget(self) -> None:
        if self._coordinator is not None:
            self._cluster.forget(*self._coordinator)
            self._coordinator = None


class _Numbered(Exception):
    def __init__(self, member_id: str):
        super().__init__(member_id)
        self.member_id = member_id
