"""A consumer of the classic protocol as its clients are: it joins, asks for its assignment, and leads if it must."""

from uuid import UUID

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.embedded import decode_assignment, decode_subscription, encode_assignment
from broker.coordinator.fields import FieldWriter
from broker.protocol.messages.sync_group import SyncGroupRequestAssignment
from tests.broker.coordinator.consumer_group.world import ConsumerWorld
from tests.broker.coordinator.group.world import SentRequest

SESSION_MS = 10_000


class ClassicConsumer:
    """`step` goes on to the next request. A cooperative one keeps its partitions while it joins (KIP-429)."""

    def __init__(
        self,
        world: ConsumerWorld,
        name: str,
        *topics: str,
        is_cooperative: bool = False,
        instance_id: str | None = None,
        protocols: tuple[str, ...] = ("range",),
        user_data: bytes | None = None,
    ):
        self.world, self.name, self.topics = world, name, list(topics)
        self.is_cooperative, self.instance_id, self.protocols = is_cooperative, instance_id, protocols
        self.user_data = user_data  #: of the assignments that it makes
        self.owned: set[tuple[UUID, int]] = set()
        self.is_joining = True
        self._joining: SentRequest | None = None  #: parked, as the next
        self._syncing: SentRequest | None = None

    @property
    def seat(self):
        return self.world.seat("g", self.name)

    @property
    def member_id(self) -> str:
        return self.seat.member_id

    @property
    def epoch(self) -> int:
        return self.seat.generation_id

    def step(self) -> ErrorCode | None:
        """Return the error of the response; None while it waits for one."""
        if self._syncing is not None:
            return self._take(self._syncing)
        if self.is_joining:
            return self._join()
        error = self.world.heartbeat("g", self.name).error
        if error is ErrorCode.REBALANCE_IN_PROGRESS:
            self.is_joining = True
        return self._noted(error)

    def leave(self) -> ErrorCode:
        self.owned = set()
        return ErrorCode(self.world.leave("g", self.name).response.members[0].error_code)

    # -- joining ------------------------------------------------------------------------------------------------------

    def _join(self) -> ErrorCode | None:
        if not self.is_cooperative:
            self.owned = set()
        if self._joining is None:
            self._joining = self.world.join(
                "g",
                self.name,
                session_ms=SESSION_MS,
                metadata=self._metadata(),
                instance_id=self.instance_id,
                protocols=self.protocols,
            )
        joined = self._joining
        if joined.is_parked:
            return None
        self._joining = None
        if joined.error is not ErrorCode.NONE:
            return self._noted(joined.error)
        parts = self._assign({member.member_id: member.metadata for member in joined.response.members})
        assignments = [SyncGroupRequestAssignment(member_id=to, assignment=part) for to, part in parts.items()]
        names = {"protocol_type": joined.response.protocol_type, "protocol_name": joined.response.protocol_name}
        self._syncing = self.world.sync("g", self.name, assignments=assignments, **names)
        return self._take(self._syncing)

    def _take(self, synced: SentRequest) -> ErrorCode | None:
        if synced.is_parked:
            return None
        self._syncing = None
        if synced.error is not ErrorCode.NONE:
            return self._noted(synced.error)
        named, _ = decode_assignment(synced.response.assignment)
        topics = {name: self.world.topics.named(name) for name in named}
        assigned = {(topics[name].topic_id, i) for name, indexes in named.items() if topics[name] for i in indexes}
        self.is_joining = self.is_cooperative and not self.owned <= assigned
        self.owned = assigned
        return ErrorCode.NONE

    def _noted(self, error: ErrorCode) -> ErrorCode:
        if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.ILLEGAL_GENERATION):
            self.is_joining, self.owned = True, set()
            if error is not ErrorCode.ILLEGAL_GENERATION:
                self.seat.member_id = ""
        return error

    def _metadata(self) -> bytes:
        writer = FieldWriter().int16(1).int32(len(self.topics))
        for topic in self.topics:
            writer.string(topic)
        owned: dict[str, list[int]] = {}
        for topic_id, index in sorted(self.owned):
            if (name := self.world.topics.name_of(topic_id)) is not None:
                owned.setdefault(name, []).append(index)
        writer.int32(-1).int32(len(owned))
        for topic, indexes in owned.items():
            writer.string(topic).int32s(indexes)
        return writer.to_bytes()

    def _assign(self, members: dict[str, bytes]) -> dict[str, bytes]:
        """Deal partitions out in turn; what another member still owns it gives up first, as cooperative ones do."""
        subscriptions = {member_id: decode_subscription(metadata) for member_id, metadata in sorted(members.items())}
        owners = {(t, i): m for m, s in subscriptions.items() for t, indexes in s.owned.items() for i in indexes}
        assigned: dict[str, dict[str, set[int]]] = {member_id: {} for member_id in subscriptions}
        for name in sorted({topic for subscription in subscriptions.values() for topic in subscription.topics}):
            topic = self.world.topics.named(name)
            subscribers = [
                member_id for member_id, subscription in subscriptions.items() if name in subscription.topics
            ]
            for index in range(topic.partition_count if topic else 0):
                to = subscribers[index % len(subscribers)]
                if owners.get((name, index), to) == to:
                    assigned[to].setdefault(name, set()).add(index)
        return {
            member_id: self._with_user_data(encode_assignment({t: frozenset(i) for t, i in parts.items()}, 1))
            for member_id, parts in assigned.items()
        }

    def _with_user_data(self, assignment: bytes) -> bytes:
        if self.user_data is None:
            return assignment
        return assignment[:-4] + FieldWriter().bytes_(self.user_data).to_bytes()
