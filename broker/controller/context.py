"""What the controller knows: a copy of ZooKeeper, brought up to date by events, and the status of each machine."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from broker.common.cluster import LeaderAndIsr, LiveBroker, TopicAssignment
from broker.common.eligible_leaders import MinIsrSettings
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.election import first_state, last_state, next_state
from broker.controller.partition_states import PartitionStatus, partition_machines
from broker.controller.replica_states import Replica, ReplicaStatus, replica_machines


@dataclass(slots=True)
class ReassignmentNotes:
    """What the controller remembers of reassignments besides what their znodes say."""

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
        """Forget the notes of partitions whose topic is deleted. Stray replicas stay noted."""
        self.epoch_due.difference_update(partitions)
        for partition in partitions:
            self.end(partition)

    def end(self, partition: TopicPartition) -> None:
        """Forget the note of a partition whose znode is complete."""
        self.leaving.pop(partition, None)
        self.ended_at.pop(partition, None)


class ControllerContext:
    """The cluster under one controller epoch."""

    def __init__(self, controller_epoch: int):
        self.controller_epoch = controller_epoch
        self.brokers: dict[int, LiveBroker] = {}
        self.topics: dict[str, TopicAssignment] = {}
        #: The topics of these ids.
        self.topic_names: dict[UUID, str] = {}
        #: As last written to or read from ZooKeeper; a NEW partition has none.
        self.states: dict[TopicPartition, LeaderAndIsr] = {}
        #: Partitions whose states were removed before this controller read them.
        self.lost_states: set[TopicPartition] = set()
        self.partition_status = partition_machines()
        self.replica_status = replica_machines()
        #: Watched, but without an id, hence without roles: see `topic_ids`.
        self.topics_without_id: set[str] = set()
        #: As the controller before has told this broker; of topics that are gone nothing is kept.
        self.last_topic_ids: dict[str, UUID] = {}
        #: Names under /admin/delete_topics, whether or not the topic is known yet.
        self.topics_to_delete: frozenset[str] = frozenset()
        #: Topics whose deletion has begun: no elections, no LeaderAndIsr, not in UpdateMetadata.
        self.deleting: set[str] = set()
        #: Replicas whose broker is alive but serves them no more: it lost their log directory, or is about to stop.
        self.failed_replicas: set[Replica] = set()
        #: Replicas whose broker could not take their role just now, and is told it again (`RoleRepeats`).
        self.deferred_replicas: set[Replica] = set()
        #: Replicas in a log directory that is full, by the last answer of their broker: they follow, and lead only what
        #: nobody else of the ISR can.
        self.full_replicas: set[Replica] = set()
        #: The last epoch and the end of the logs of replicas that have no leader, by the last answer of their broker.
        self.log_extents: dict[Replica, tuple[int, int]] = {}
        self.reassignment_notes = ReassignmentNotes()
        #: min.insync.replicas, as last read; None where eligible leader replicas are not kept.
        self.min_isr: MinIsrSettings | None = None

    # -- asking

    @property
    def watched_topics(self) -> frozenset[str]:
        return frozenset(self.topics.keys() | self.topics_without_id)

    def partitions(self, topic: str) -> list[TopicPartition]:
        return [TopicPartition(topic, index) for index in self.topics[topic].partitions]

    def all_partitions(self) -> list[TopicPartition]:
        """Return the partitions of every topic that is not being deleted."""
        kept = (topic for topic in self.topics if topic not in self.deleting)
        return [partition for topic in kept for partition in self.partitions(topic)]

    def assignment(self, partition: TopicPartition) -> tuple[int, ...]:
        return self.topics[partition.topic].partitions[partition.partition]

    def replica_assignment(self, partition: TopicPartition) -> ReplicaAssignment:
        return self.topics[partition.topic].of(partition.partition)

    def reassignments(self) -> dict[TopicPartition, ReplicaAssignment]:
        """Return the partitions in reassignment, of topics that are not being deleted."""
        return {
            TopicPartition(name, index): topic.of(index)
            for name, topic in self.topics.items()
            if name not in self.deleting
            for index in topic.adding.keys() | topic.removing.keys()
        }

    def is_current(self, partition: TopicPartition) -> bool:
        """Return whether the partition exists and its topic is not being deleted."""
        topic = self.topics.get(partition.topic)
        return topic is not None and partition.partition in topic.partitions and partition.topic not in self.deleting

    def is_current_incarnation(self, broker_id: int, broker_epoch: int) -> bool:
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.epoch == broker_epoch

    def replicas(self, partition: TopicPartition) -> list[Replica]:
        return [Replica(partition, broker_id) for broker_id in self.assignment(partition)]

    def topic_replicas(self, topic: str) -> list[Replica]:
        return [replica for partition in self.partitions(topic) for replica in self.replicas(partition)]

    def partitions_on(self, broker_ids: Iterable[int]) -> list[TopicPartition]:
        """Return partitions with a replica on one of the brokers, whatever the state of that replica."""
        wanted = set(broker_ids)
        return [partition for partition in self.all_partitions() if wanted.intersection(self.assignment(partition))]

    def is_online(self, replica: Replica) -> bool:
        return self.is_reachable(replica) and replica not in self.deferred_replicas

    def is_reachable(self, replica: Replica) -> bool:
        """Return whether its broker can do with it what it is told to, if perhaps not at once."""
        return replica.broker_id in self.brokers and replica not in self.failed_replicas

    def online_replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        return self._replicas_by_state(partition)[0]

    def offline_replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        return self._replicas_by_state(partition)[1]

    def _replicas_by_state(self, partition: TopicPartition) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return online and offline replicas, quickly: an event may ask several times for each of all partitions."""
        assignment, brokers = self.assignment(partition), self.brokers
        if self.failed_replicas or self.deferred_replicas:
            online = tuple([item for item in assignment if self.is_online(Replica(partition, item))])
        else:
            online = tuple([item for item in assignment if item in brokers])
        if len(online) == len(assignment):
            return assignment, ()
        return online, tuple([item for item in assignment if item not in online])

    def full_hosts(self, partition: TopicPartition) -> frozenset[int]:
        """Return the brokers whose replica of the partition is in a log directory that is full."""
        if not self.full_replicas:
            return frozenset()
        return frozenset(
            broker_id for broker_id in self.assignment(partition) if Replica(partition, broker_id) in self.full_replicas
        )

    def extents(self, partition: TopicPartition) -> dict[int, tuple[int, int]]:
        """Return the known extents of the partition's logs, by broker."""
        known = self.log_extents
        return {replica.broker_id: known[replica] for replica in self.replicas(partition) if replica in known}

    def wanted_states(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, LeaderAndIsr]:
        """Return the states to be written for those of `partitions` that are not as they should be."""
        wanted = {}
        for partition in partitions:
            better = self._wanted_state(partition)
            if better is not None:
                wanted[partition] = better
        return wanted

    def _wanted_state(self, partition: TopicPartition) -> LeaderAndIsr | None:
        state, online = self.states.get(partition), self.online_replicas(partition)
        assignment, min_isr = self.replica_assignment(partition), self.min_isr_of(partition.topic)
        if state is None:
            first = first_state(assignment.replicas, online, self.controller_epoch)
            return first and first.without_known_isr() if partition in self.lost_states else first
        epoch, full = self.controller_epoch, self.full_hosts(partition)
        last = last_state(assignment, state, online, epoch, min_isr) if assignment.is_reassigning else None
        better = last or next_state(assignment.replicas, state, online, epoch, full, min_isr)
        if better is None and partition in self.reassignment_notes.epoch_due:
            return state.next(state.leader, state.isr, self.controller_epoch)
        return better

    def min_isr_of(self, topic: str) -> int | None:
        """Return the topic's min.insync.replicas, None where eligible leader replicas are not kept."""
        return None if self.min_isr is None else self.min_isr.of(topic)

    # -- being told

    def add_partitions(self, assignment: TopicAssignment) -> list[TopicPartition]:
        """Take over a topic's znode; returns the partitions that are new by it. Known ones keep their replicas."""
        known = self.topics.get(assignment.topic)
        kept = known.partitions if known else {}
        new_indexes = [index for index in assignment.partitions if index not in kept]
        before = known or TopicAssignment(assignment.topic, assignment.topic_id, {})
        self.topics[assignment.topic] = before.having({index: assignment.of(index) for index in new_indexes})
        self.topic_names[before.topic_id] = assignment.topic
        new = [TopicPartition(assignment.topic, index) for index in new_indexes]
        self.partition_status.move(new, PartitionStatus.NEW)
        for partition in new:
            self.replica_status.move(self.replicas(partition), ReplicaStatus.NEW)
        return new

    def find_partition(self, partition: TopicPartition, state: LeaderAndIsr | None) -> None:
        """Take a known topic's partition as ZooKeeper has it, whatever came before; no state: it is new."""
        if state is None:
            self.partition_status.find(partition, PartitionStatus.NEW)
        else:
            self.states[partition] = state
            online = state.leader in self.online_replicas(partition)
            self.partition_status.find(partition, PartitionStatus.ONLINE if online else PartitionStatus.OFFLINE)
        for replica in self.replicas(partition):
            online = self.is_online(replica)
            status = ReplicaStatus.NEW if state is None else ReplicaStatus.ONLINE if online else ReplicaStatus.OFFLINE
            self.replica_status.find(replica, status)
        if self.replica_assignment(partition).is_reassigning:
            self.reassignment_notes.epoch_due.add(partition)

    def keep_last_topic_ids_of(self, names: Collection[str]) -> None:
        """Keep the last topic ids of these names only: under any other name a topic is new."""
        self.last_topic_ids = {name: topic_id for name, topic_id in self.last_topic_ids.items() if name in names}

    def fail(self, replicas: Iterable[Replica]) -> None:
        """Mark replicas as offline until their brokers register again."""
        failed = set(replicas)
        self.failed_replicas |= failed
        self.deferred_replicas -= failed

    def forget_failures(self, replicas: Iterable[Replica]) -> None:
        """Forget failures of replicas that, or whose broker's registration, no longer exist."""
        gone = set(replicas)
        self.failed_replicas -= gone
        self.deferred_replicas -= gone
        self.full_replicas -= gone
        for replica in gone & self.log_extents.keys():
            del self.log_extents[replica]

    def forget_extents(self, partition: TopicPartition) -> None:
        """Forget log ends reported for the partition: its logs grow again, or are truncated."""
        for replica in self.replicas(partition):
            self.log_extents.pop(replica, None)

    def forget_extents_of(self, broker_ids: Collection[int]) -> None:
        """Forget log ends that brokers reported before they restarted."""
        for replica in [replica for replica in self.log_extents if replica.broker_id in broker_ids]:
            del self.log_extents[replica]

    def set_assignment(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        self.topics[partition.topic] = self.topics[partition.topic].having({partition.partition: assignment})

    def forget_topic(self, topic: str) -> None:
        """Drop everything about a topic whose znodes are gone."""
        partitions, replicas = self.partitions(topic), self.topic_replicas(topic)
        self.lost_states.difference_update(partitions)
        self.reassignment_notes.forget(partitions)
        self.partition_status.forget(partitions)
        self.replica_status.forget(replicas)
        self.forget_failures(replicas)
        for partition in partitions:
            self.states.pop(partition, None)
        del self.topic_names[self.topics.pop(topic).topic_id]
        self.last_topic_ids.pop(topic, None)
        self.deleting.discard(topic)
        if self.min_isr is not None:
            self.min_isr = self.min_isr.without(topic)
