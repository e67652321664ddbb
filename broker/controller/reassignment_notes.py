"""What the controller remembers of reassignments besides what their znodes say."""

from dataclasses import dataclass, field

from broker.common.types import TopicPartition
from broker.controller.replica_states import Replica


@dataclass(slots=True)
class ReassignmentNotes:
    #: Partitions whose replicas were changed: their next state has a higher epoch, whatever else it says, so that
    #: every replica takes notice and requests of before are fenced.
    epoch_due: set[TopicPartition] = field(default_factory=set)
    #: Brokers still to say that they have deleted a replica which a finished move took away; the znode names these
    #: replicas until then, or until the partition is asked to move again. A partition whose brokers have all answered
    #: stays here until its znode is written.
    leaving: dict[TopicPartition, set[int]] = field(default_factory=dict)
    #: The leader epoch that took the replicas of `leaving` away; answers to stops of an earlier one do not count.
    ended_at: dict[TopicPartition, int] = field(default_factory=dict)
    #: Replicas to be deleted when their broker is back, and the leader epoch that took them away.
    strays: dict[Replica, int] = field(default_factory=dict)
    #: Targets in /admin/reassign_partitions that are not reached yet.
    by_znode: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)

    def forget(self, partitions: list[TopicPartition]) -> None:
        """Their topic is gone. Strays stay: no topic of whatever name has use for them."""
        self.epoch_due.difference_update(partitions)
        for partition in partitions:
            self.end(partition)

    def end(self, partition: TopicPartition) -> None:
        """Its znode says all that is to be said."""
        self.leaving.pop(partition, None)
        self.ended_at.pop(partition, None)
