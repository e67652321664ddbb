"""Members of consumer groups (KIP-848), with Kafka's protocol: they send heartbeats, own what these tell them, commit
by their epochs, fall silent for longer than their session, and leave.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.consumer_group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatTopicPartitions,
)
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.committed_offsets import CommittedOffsets, fetch_offsets
from tests.simulation.coordinated import AGAIN, CoordinatorLine
from tests.simulation.groups import TermOf
from tests.simulation.history import History
from tests.simulation.holdings import Holdings
from tests.simulation.ownership import Ownership
from tests.simulation.promises import IsUndisturbed, Promises
from tests.simulation.settings import CONSUMER_SESSION_TIMEOUT_MS

_HEARTBEAT_VERSION = 1
_COMMIT_VERSION = 9
_REBALANCE_TIMEOUT_MS = 6_000
_PAUSE_S = (0.1, 0.5)
#: Longer than a session: what it commits afterwards, before it hears that it is expelled, must not count.
_SILENCE_S = CONSUMER_SESSION_TIMEOUT_MS / 1000 + 1
_SILENCE_SHARE = 0.03
_LEAVE_SHARE = 0.02
#: What a member hears that must abandon its partitions and join again.
_EXPELLED = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND)
#: The commit is not in the log and will not be.
_REFUSED = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND)


@dataclass(frozen=True)
class GroupTruth:
    """What the world knows of the coordinator of a group."""

    now_us: Callable[[], int]
    term_of: TermOf
    is_undisturbed: IsUndisturbed


class ConsumerMember:
    def __init__(
        self,
        name: str,
        client: ClusterClient,
        history: History,
        ownership: Ownership,
        offsets: CommittedOffsets,
        holdings: Holdings,
        truth: GroupTruth,
    ):
        self._name = name
        self._client = client
        self._history = history
        self._ownership = ownership
        self._group = ownership.group
        self._topic = ownership.partitions[0].topic
        self._offsets = offsets
        self._holdings = holdings
        self._truth = truth
        self._random = client.random
        self._line = CoordinatorLine(client, CoordinatorType.GROUP, self._group)
        self._member_id = f"{name}-{self._random.getrandbits(32):08x}"
        self._epoch = JOIN_EPOCH
        self._owned: frozenset[TopicPartition] = frozenset()
        #: Whether the coordinator may not know what the member owns, so that the next heartbeat has to say all.
        self._is_to_tell_all = True
        self._positions: dict[TopicPartition, int] = {}
        self._commits = 0
        self._promises = Promises(name, history, CONSUMER_SESSION_TIMEOUT_MS, truth.is_undisturbed)
        ownership.enter(name, self._is_in_good_standing)
        self.is_stopping = False

    def _is_in_good_standing(self) -> bool:
        return self._promises.are_kept(self._truth.term_of(self._group), self._truth.now_us())

    async def run(self) -> None:
        while not self._client.leaders:
            await self._client.refresh([self._topic])
            await asyncio.sleep(0.1)
        while not (self.is_stopping and self._ownership.is_whole):
            await self._heartbeat()
            if not self.is_stopping:
                await self._do_something()
            await asyncio.sleep(self._random.uniform(*_PAUSE_S))
        while await fetch_offsets(self._line, self._offsets, self._group, self._topic, require_stable=True) is None:
            await asyncio.sleep(0.1)

    async def _do_something(self) -> None:
        chance = self._random.random()
        if chance < _LEAVE_SHARE:
            await self._leave()
        elif self._owned:
            if chance > 1 - _SILENCE_SHARE:
                await asyncio.sleep(_SILENCE_S)
            await self._commit(self._random.choice(sorted(self._owned)))

    # -- membership

    async def _heartbeat(self) -> None:
        """One heartbeat, and what follows from its response."""
        owned = self._topic_partitions() if self._is_to_tell_all else None
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self._member_id,
            member_epoch=self._epoch,
            rebalance_timeout_ms=_REBALANCE_TIMEOUT_MS if self._is_to_tell_all else -1,
            subscribed_topic_names=[self._topic] if self._is_to_tell_all else None,
            topic_partitions=owned,
        )
        self._is_to_tell_all = True  # until it hears that all was understood
        try:
            await self._line.find()
            asked_us, broker_id, term = self._truth.now_us(), self._line.broker_id, self._truth.term_of(self._group)
            response = await self._line.ask(request, _HEARTBEAT_VERSION)
        except NoAnswerError:
            return
        self._line.forget_if_elsewhere(response.error_code)
        if response.error_code == ErrorCode.NONE:
            self._promises.heard(term, broker_id, asked_us)
            self._epoch = response.member_epoch
            self._is_to_tell_all = await self._reconcile(response)
        elif response.error_code in _EXPELLED:
            self._promises.expelled(term, broker_id, self._truth.now_us())
            self._abandon()
        elif response.error_code not in AGAIN:
            self._history.violate(f"{self._name} hears its heartbeat refused: {response.error_message}")

    def _topic_partitions(self) -> list[HeartbeatTopicPartitions]:
        numbers = sorted(where.partition for where in self._owned)
        topic_id = next(iter(self._client.leaders.values())).topic_id
        return [HeartbeatTopicPartitions(topic_id=topic_id, partitions=numbers)] if numbers else []

    async def _reconcile(self, response: ConsumerGroupHeartbeatResponse) -> bool:
        """Own what the response says; whether the coordinator has to hear of it."""
        if response.assignment is None:
            return False
        topics = response.assignment.topic_partitions
        owned = frozenset(TopicPartition(self._topic, number) for topic in topics for number in topic.partitions)
        self._ownership.take(self._name, self._epoch, owned)
        if owned == self._owned:
            return False
        self._history.add(self._name, "owns", group=self._group, epoch=self._epoch, partitions=sorted(owned))
        gained, self._owned = owned - self._owned, owned
        self._positions = {where: at for where, at in self._positions.items() if where in owned}
        if gained:
            await self._take_over(gained)
        return True

    def _abandon(self) -> None:
        self._epoch, self._owned = JOIN_EPOCH, frozenset()
        self._positions.clear()
        self._ownership.abandon(self._name)

    async def _leave(self) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group, member_id=self._member_id, member_epoch=LEAVE_EPOCH
        )
        self._promises.forget()
        self._abandon()
        self._is_to_tell_all = True
        try:
            await self._line.ask(request, _HEARTBEAT_VERSION)
        except NoAnswerError:
            self._history.add(self._name, "leaves in doubt", group=self._group)

    # -- offsets

    async def _take_over(self, gained: frozenset[TopicPartition]) -> None:
        """What is assigned to it is read on from where the group has come; where it does not know, nothing is."""
        offsets = await fetch_offsets(self._line, self._offsets, self._group, self._topic, require_stable=True)
        if offsets is not None:
            self._positions |= {where: offsets.get(where, -1) for where in gained & self._owned}

    async def _commit(self, where: TopicPartition) -> None:
        if where not in self._positions:
            await self._take_over(frozenset({where}))
        if where not in self._positions:
            return
        offset = self._positions[where] = self._positions[where] + self._random.randint(1, 5)
        self._commits += 1
        metadata = f"{self._name}#{self._commits}"
        partition = OffsetCommitRequestPartition(
            partition_index=where.partition, committed_offset=offset, committed_metadata=metadata
        )
        request = OffsetCommitRequest(
            group_id=self._group,
            generation_id_or_member_epoch=self._epoch,
            member_id=self._member_id,
            topics=[OffsetCommitRequestTopic(name=where.topic, partitions=[partition])],
        )
        self._offsets.attempt(metadata)
        try:
            response = await self._line.ask(request, _COMMIT_VERSION)
        except NoAnswerError:
            return
        code = response.topics[0].partitions[0].error_code
        self._line.forget_if_elsewhere(code)
        if code == ErrorCode.NONE:
            self._offsets.acknowledge(self._group, where, offset, metadata)
            what = f"{self._name} hears OffsetCommit succeed"
            self._holdings.judge_fact(OFFSETS_TOPIC, ("commit", self._group, metadata), what)
        elif code in _REFUSED:
            self._offsets.refused(metadata)
