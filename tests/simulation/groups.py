"""Members of consumer groups, with Kafka's protocol: they join, agree on who has which partition, send heartbeats and
commit. One that keeps its promises must stay a member.
"""

import asyncio
from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from broker.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from broker.protocol.schema import Message
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.committed_offsets import CommittedOffsets, fetch_offsets
from tests.simulation.coordinated import AGAIN, CoordinatorLine
from tests.simulation.history import History
from tests.simulation.holdings import Holdings
from tests.simulation.promises import IsUndisturbed, Promises, Term

SESSION_TIMEOUT_MS = 3_000
_REBALANCE_TIMEOUT_MS = 6_000
_JOIN_TIMEOUT_MS = _REBALANCE_TIMEOUT_MS + 3_000
_PAUSE_S = (0.2, 0.6)
_LEAVE_SHARE = 0.02
#: The commit is not in the log and will not be.
_REFUSED = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS)

#: Of a group's coordinator, None if there is none.
TermOf = Callable[[str], Term | None]


class _StartOver(Exception):
    """Join again."""


class GroupMember:
    def __init__(
        self,
        name: str,
        client: ClusterClient,
        history: History,
        group: str,
        partitions: list[TopicPartition],
        offsets: CommittedOffsets,
        holdings: Holdings,
        now_us: Callable[[], int],
        term_of: TermOf,
        is_undisturbed: IsUndisturbed,
    ):
        self._name = name
        self._client = client
        self._history = history
        self._group = group
        self._partitions = partitions
        self._offsets = offsets
        self._holdings = holdings
        self._now_us = now_us
        self._term_of = term_of
        self._random = client.random
        self._line = CoordinatorLine(client, CoordinatorType.GROUP, group)
        self._member_id = ""
        self._generation = -1
        self._assigned: list[TopicPartition] = []
        self._positions: dict[TopicPartition, int] = {}
        self._commits = 0
        self._promises = Promises(name, history, SESSION_TIMEOUT_MS, is_undisturbed)
        self.is_stopping = False

    async def run(self) -> None:
        while not self.is_stopping:
            try:
                await self._join()
                await self._take_over()
                while not self.is_stopping:
                    await self._stay()
            except (_StartOver, NoAnswerError) as reason:
                self._history.add(self._name, "starts over", reason=str(reason))
                await asyncio.sleep(self._random.uniform(*_PAUSE_S))
        while not await self._has_read_back():
            await asyncio.sleep(0.1)

    async def _has_read_back(self) -> bool:
        topic = self._partitions[0].topic
        return await fetch_offsets(self._line, self._offsets, self._group, topic, require_stable=True) is not None

    # -- asking

    async def _ask(self, request: Message, version: int, timeout_ms: int = 3_000) -> Message:
        """Raises NoAnswerError, or _StartOver for an error of the whole response."""
        await self._line.find()
        asked_us, broker_id = self._now_us(), self._line.broker_id
        term = self._term_of(self._group)
        response = await self._line.ask(request, version, timeout_ms)
        code = getattr(response, "error_code", 0) or self._code_inside(response)
        self._note(response, code, asked_us, broker_id, term)
        if code in AGAIN:
            self._line.forget_if_elsewhere(code)
            raise _StartOver(ErrorCode(code).name)
        return response

    def _code_inside(self, response: Message) -> int:
        topics = getattr(response, "topics", [])
        return next(
            (partition.error_code for topic in topics for partition in topic.partitions if partition.error_code), 0
        )

    def _note(self, response: Message, code: int, asked_us: int, broker_id: int, term: Term | None) -> None:
        """Whether the member is still one, and whether it had to be."""
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self._promises.expelled(term, broker_id, self._now_us())
            self._member_id = ""
        elif isinstance(response, JoinGroupResponse) and code == ErrorCode.NONE:
            self._promises.waited(term, broker_id, self._now_us())
        elif code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS):
            self._promises.heard(term, broker_id, asked_us)

    # -- membership

    async def _join(self) -> None:
        """Ends with an assignment, or raises."""
        answer = await self._ask(self._join_request(), 5, _JOIN_TIMEOUT_MS)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = answer.member_id
            self._promises.forget()
            answer = await self._ask(self._join_request(), 5, _JOIN_TIMEOUT_MS)
        self._check(answer.error_code)
        self._member_id, self._generation = answer.member_id, answer.generation_id
        self._history.add(self._name, "joins", group=self._group, generation=self._generation, me=self._member_id)
        is_leader = answer.leader == answer.member_id
        assignments = self._assign([member.member_id for member in answer.members]) if is_leader else []
        request = SyncGroupRequest(
            group_id=self._group,
            generation_id=self._generation,
            member_id=self._member_id,
            assignments=assignments,
        )
        synced = await self._ask(request, 3)
        self._check(synced.error_code)
        self._holdings.judge_fact(
            OFFSETS_TOPIC, ("generation", self._group, self._generation), f"{self._name} hears SyncGroup succeed"
        )
        numbers = bytes(synced.assignment)
        self._assigned = [self._partitions[number] for number in numbers]

    def _join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="numbers", metadata=b"")],
        )

    def _assign(self, members: list[str]) -> list[SyncGroupRequestAssignment]:
        """An assignment is the numbers of partitions, a byte each."""
        count = len(self._partitions)
        return [
            SyncGroupRequestAssignment(member_id=member, assignment=bytes(range(at, count, len(members))))
            for at, member in enumerate(members)
        ]

    def _check(self, code: int) -> None:
        if code:
            raise _StartOver(ErrorCode(code).name)

    async def _stay(self) -> None:
        """One heartbeat, perhaps a commit, perhaps a farewell; raises when it must join again."""
        await asyncio.sleep(self._random.uniform(*_PAUSE_S))
        request = HeartbeatRequest(group_id=self._group, generation_id=self._generation, member_id=self._member_id)
        self._check((await self._ask(request, 3)).error_code)
        if self._random.random() < _LEAVE_SHARE:
            await self._leave()
        elif self._assigned:
            await self._commit(self._random.choice(self._assigned))

    async def _leave(self) -> None:
        leaving = LeaveGroupRequest(group_id=self._group, members=[MemberIdentity(member_id=self._member_id)])
        self._member_id = ""
        self._promises.forget()
        await self._line.ask(leaving, 3)
        raise _StartOver("has left")

    # -- offsets

    async def _take_over(self) -> None:
        """What is assigned to it is read on from where the group has come."""
        topic = self._partitions[0].topic
        offsets = await fetch_offsets(self._line, self._offsets, self._group, topic, require_stable=True)
        if offsets is None:
            raise _StartOver("the offsets are not known")
        self._positions = {where: offsets.get(where, -1) for where in self._assigned}

    async def _commit(self, where: TopicPartition) -> None:
        offset = self._positions[where] = self._positions[where] + self._random.randint(1, 5)
        self._commits += 1
        metadata = f"{self._name}#{self._commits}"
        partition = OffsetCommitRequestPartition(
            partition_index=where.partition, committed_offset=offset, committed_metadata=metadata
        )
        request = OffsetCommitRequest(
            group_id=self._group,
            generation_id_or_member_epoch=self._generation,
            member_id=self._member_id,
            topics=[OffsetCommitRequestTopic(name=where.topic, partitions=[partition])],
        )
        self._offsets.attempt(metadata)
        response = await self._ask(request, 7)
        code = response.topics[0].partitions[0].error_code
        if code == ErrorCode.NONE:
            self._offsets.acknowledge(self._group, where, offset, metadata)
            self._holdings.judge_fact(
                OFFSETS_TOPIC, ("commit", self._group, metadata), f"{self._name} hears OffsetCommit succeed"
            )
        elif code in _REFUSED:
            self._offsets.refused(metadata)
        self._check(code)
