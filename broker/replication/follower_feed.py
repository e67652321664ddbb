"""What a leader still has to send to one follower.

A follower names its partitions once, in one session (KIP-227), and has several fetches under way, so that one of them
is always here when records arrive; a fetch then says what the follower holds (its acknowledgement) and does not say
where to read on: that is known here. What is looked at for an answer is what has news, never all partitions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.replication.follower_state import UNKNOWN_BROKER_EPOCH

_EPOCH_MAX = 2**31 - 1


@dataclass(slots=True)
class FedPartition:
    """One partition as the follower asked for it and as far as it was served."""

    topic_partition: TopicPartition
    topic_id: UUID
    #: The leader epoch the follower goes by, -1 if it did not say.
    leader_epoch: int
    #: Everything before it is held by the follower or on its way.
    read_from: int
    max_bytes: int
    #: Where the follower's own log starts, as far as it has said.
    starts_at: int = -1
    #: What the follower was told last.
    high_watermark: int = -1
    log_start_offset: int = -1
    #: The throttle holds it back, or a disk; `resume` ends that.
    is_paused: bool = False
    #: What comes next was just read from a disk: nobody need ask again whether it lies there only.
    is_in_memory: bool = False


@dataclass(slots=True)
class FollowerFeed:
    """One follower's session, named `session_id`. `replica_id` is its broker."""

    replica_id: int
    session_id: int
    #: The registration the session was opened under; the broker's next one opens another.
    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    next_epoch: int = 1
    partitions: dict[TopicPartition, FedPartition] = field(default_factory=dict)
    #: With records to send, or an error: an answer is due at once. In the order they are sent in.
    _urgent: dict[TopicPartition, None] = field(default_factory=dict)
    #: Only the high watermark or the log start has moved: that goes along with the next answer.
    _stale: dict[TopicPartition, None] = field(default_factory=dict)

    @property
    def has_news(self) -> bool:
        return bool(self._urgent)

    def accept(self, epoch: int) -> None:
        """Accept the session's next request. Raises INVALID_FETCH_SESSION_EPOCH if it is not the next one."""
        if epoch != self.next_epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH, f"epoch {epoch} instead of {self.next_epoch}")
        self.next_epoch = epoch % _EPOCH_MAX + 1

    def ask(self, partition: FedPartition) -> None:
        """Note the offset the follower wants next, whatever it was sent before."""
        self.partitions[partition.topic_partition] = partition
        self._urgent[partition.topic_partition] = None

    def acknowledge(self, topic_partition: TopicPartition, log_end_offset: int) -> None:
        """Note that the follower holds all before `log_end_offset`; it may have skipped what it was sent."""
        fed = self.partitions.get(topic_partition)
        if fed is not None and log_end_offset > fed.read_from:
            fed.read_from = log_end_offset

    def forget(self, topic_partition: TopicPartition) -> None:
        for known in (self.partitions, self._urgent, self._stale):
            known.pop(topic_partition, None)

    def records_came(self, topic_partition: TopicPartition) -> None:
        """Note new records, or anything else that a follower should be sent at once."""
        fed = self.partitions.get(topic_partition)
        if fed is not None and not fed.is_paused:
            self._urgent[topic_partition] = None

    def high_watermark_moved(self, topic_partition: TopicPartition) -> None:
        if topic_partition in self.partitions:
            self._stale[topic_partition] = None

    def news(self) -> Iterator[FedPartition]:
        """Yield the partitions with news, most urgent first; each counts as sent unless `keep` is called."""
        for waiting in (self._urgent, self._stale):
            for topic_partition in list(waiting):
                del waiting[topic_partition]
                fed = self.partitions.get(topic_partition)
                if fed is not None:
                    yield fed

    def resume(self, fed: FedPartition) -> None:
        fed.is_paused = False
        self.records_came(fed.topic_partition)

    def keep(self, fed: FedPartition) -> None:
        """Keep a partition that has more than went into this response; others go first in the next one."""
        self._urgent[fed.topic_partition] = None
