"""A member of a group as the coordinator sees it between two records: what it can do and how long it may be silent."""

from collections.abc import Collection
from dataclasses import dataclass

from broker.common.shared_budget import UNATTRIBUTED, Owner, owner_of
from broker.coordinator.fields import text_bytes
from broker.coordinator.group.memory import MEMBER_BYTES, PROTOCOL_BYTES
from broker.coordinator.group.records import GroupMetadata, MemberMetadata


def metadata_bytes(protocols: dict[str, bytes]) -> int:
    return sum(PROTOCOL_BYTES + text_bytes(name) + len(metadata) for name, metadata in protocols.items())


@dataclass(slots=True)
class ClassicMember:
    member_id: str
    group_instance_id: str | None  #: given for static members (KIP-345), which keep their place while they are away
    client_id: str
    client_host: str
    session_timeout_ms: int  #: silence after which the member is dead
    rebalance_timeout_ms: int  #: how long a rebalance waits for the member to join again
    protocols: dict[str, bytes]  #: protocol name: metadata for the leader, opaque to us; preferred first
    joined_at_ms: int = 0  #: when its first JoinGroup came
    owner: Owner = UNATTRIBUTED  #: the client that is counted for what the member takes
    is_new: bool = False  #: no JoinGroup has been answered yet, so it cannot know that it should send heartbeats

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def size_bytes(self) -> int:
        """The member's approximate size in memory."""
        return MEMBER_BYTES + text_bytes(self._names) + metadata_bytes(self.protocols)

    @property
    def _names(self) -> str:
        return self.member_id + self.client_id + (self.group_instance_id or "")

    @property
    def record_bytes(self) -> int:
        """Return what it takes in the record of a generation at most, without its assignment."""
        return MEMBER_BYTES + text_bytes(self._names) + max(map(len, self.protocols.values()), default=0)

    def matches(self, protocols: dict[str, bytes]) -> bool:
        """Return whether these are the member's protocols: same order, same metadata to the byte."""
        return list(self.protocols.items()) == list(protocols.items())

    def vote(self, candidates: Collection[str]) -> str:
        """Return the candidate the member likes best; it supports all of them."""
        return next(name for name in self.protocols if name in candidates)

    def recorded(self, protocol_name: str, assignment: bytes) -> MemberMetadata:
        """Return the member as the record of a generation that uses this protocol shows it."""
        return MemberMetadata(
            member_id=self.member_id,
            group_instance_id=self.group_instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            session_timeout_ms=self.session_timeout_ms,
            subscription=self.protocols[protocol_name],
            assignment=assignment,
        )

    @classmethod
    def from_record(
        cls, recorded: MemberMetadata, generation: GroupMetadata, owner: Owner | None = None
    ) -> "ClassicMember":
        """Return a member known from the log alone, which has its address and of its protocols the chosen one.

        owner: as the record names it; None if it names none.
        """
        return cls(
            member_id=recorded.member_id,
            group_instance_id=recorded.group_instance_id,
            client_id=recorded.client_id,
            client_host=recorded.client_host,
            session_timeout_ms=recorded.session_timeout_ms,
            rebalance_timeout_ms=recorded.rebalance_timeout_ms,
            protocols={generation.protocol_name or "": recorded.subscription},
            owner=owner or owner_of("", recorded.client_host),
        )
