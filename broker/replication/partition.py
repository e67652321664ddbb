"""What one replica of a partition believes, and what it may do because of it.

The controller tells a replica its role (LeaderAndIsr); the log tells it how far it has written. From these follow the
high watermark and the answers "not the leader", "fenced", "unknown epoch" (KIP-320).
"""

from dataclasses import dataclass, field

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.types import NO_LEADER_EPOCH, TopicPartition


@dataclass(frozen=True, slots=True)
class LeadershipState:
    """What LeaderAndIsr said of a partition."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    controller_epoch: int
    zk_version: int


@dataclass(slots=True)
class Partition:
    """One replica's view of its partition; `broker_id` is who we are."""

    topic_partition: TopicPartition
    broker_id: int
    state: LeadershipState | None = None
    #: Exclusive: every record below is committed. Never moves backwards within one leader epoch.
    high_watermark: int = 0
    #: Log end offset of each replica as far as the leader knows.
    _end_offsets: dict[int, int] = field(default_factory=dict)

    @property
    def is_leader(self) -> bool:
        return self.state is not None and self.state.leader == self.broker_id

    @property
    def leader_epoch(self) -> int:
        return self.state.leader_epoch if self.state else NO_LEADER_EPOCH

    def apply(self, state: LeadershipState, log_end_offset: int) -> bool:
        """Take a new state; False when it is older than what we have (it is then ignored)."""
        if self.state and state.leader_epoch < self.state.leader_epoch:
            return False
        self.state = state
        self._end_offsets = {self.broker_id: log_end_offset}
        self._advance_high_watermark()
        return True

    def check_leader(self, current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
        """Raise the ApiError a client gets when this replica may not serve it as leader."""
        if self.state is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if current_leader_epoch != NO_LEADER_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
            if current_leader_epoch > self.leader_epoch:
                raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)
        if not self.is_leader:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def record_append(self, log_end_offset: int) -> bool:
        """The leader wrote up to `log_end_offset`; True when the high watermark moved."""
        if log_end_offset < self._end_offsets.get(self.broker_id, 0):
            raise InvariantViolation(f"log end of {self.topic_partition} moved backwards to {log_end_offset}")
        self._end_offsets[self.broker_id] = log_end_offset
        return self._advance_high_watermark()

    def _advance_high_watermark(self) -> bool:
        """The smallest log end over the in-sync replicas is committed, once each of them has been heard of."""
        if not self.is_leader or any(replica not in self._end_offsets for replica in self.state.isr):
            return False
        committed = min((self._end_offsets[replica] for replica in self.state.isr), default=self.high_watermark)
        moved = committed > self.high_watermark
        self.high_watermark = max(self.high_watermark, committed)
        return moved
