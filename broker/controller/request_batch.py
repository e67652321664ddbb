"""Collects what one step wants told to brokers and makes the fewest requests of it.

Order of the requests: LeaderAndIsr first, so that a leader serves before clients are sent to it; then UpdateMetadata;
then StopReplica, so that nobody is still sent to what is gone.
"""

from collections.abc import Iterable
from dataclasses import replace

from broker.common.cluster import LEADER_DURING_DELETE, LeaderAndIsr, LiveBroker
from broker.common.types import NO_BROKER, TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import (
    ControllerEffect,
    PartitionTold,
    ReplicaStop,
    SendLeaderAndIsr,
    SendStopReplica,
    SendUpdateMetadata,
)
from broker.controller.replica_states import Replica, ReplicaStatus


class RequestBatch:
    """LeaderAndIsr, UpdateMetadata and StopReplica of one step."""

    def __init__(self, context: ControllerContext):
        self._context = context
        self._leader_and_isr: dict[int, list[PartitionTold]] = {}
        self._metadata: dict[int, list[PartitionTold]] = {}
        self._stops: dict[int, list[ReplicaStop]] = {}

    def add_to_all(self, partitions: Iterable[TopicPartition]) -> None:
        """Send new states: LeaderAndIsr to the online replicas, UpdateMetadata to every live broker."""
        for partition in partitions:
            state = self._partition_state(partition)
            self._add_leader_and_isr(state, self._context.online_replicas(partition))
            for broker_id in self._context.brokers:
                self._metadata.setdefault(broker_id, []).append(state)

    def add_leader_and_isr(self, partition: TopicPartition, broker_ids: Iterable[int]) -> None:
        self._add_leader_and_isr(self._partition_state(partition), broker_ids)

    def _add_leader_and_isr(self, known: PartitionTold, broker_ids: Iterable[int]) -> None:
        new = None
        for broker_id in broker_ids:
            state = known
            if self._context.replica_status[Replica(known.partition, broker_id)] is ReplicaStatus.NEW:
                state = new = new or replace(known, is_new=True)
            self._leader_and_isr.setdefault(broker_id, []).append(state)

    def add_metadata(self, partitions: Iterable[TopicPartition], broker_ids: Iterable[int]) -> None:
        """Add metadata for the brokers; without partitions only the live brokers."""
        states = [self._partition_state(partition) for partition in partitions]
        for broker_id in broker_ids:
            self._metadata.setdefault(broker_id, []).extend(states)

    def add_deleted(self, partitions: Iterable[TopicPartition], *, has_vanished: bool = False) -> None:
        """Tell every live broker that the partitions are going away; has_vanished: without a request to delete them."""
        for partition in partitions:
            never_led = LeaderAndIsr(NO_BROKER, 0, (), self._context.controller_epoch)
            last = self._context.states.get(partition, never_led)
            going = self._in_state(partition, replace(last, leader=LEADER_DURING_DELETE))
            state = replace(going, has_vanished=has_vanished)
            for broker_id in self._context.brokers:
                self._metadata.setdefault(broker_id, []).append(state)

    def add_stop(self, stop: ReplicaStop, broker_ids: Iterable[int]) -> None:
        for broker_id in broker_ids:
            self._stops.setdefault(broker_id, []).append(stop)

    def effects(self) -> list[ControllerEffect]:
        return [*self._leader_and_isr_effects(), *self._metadata_effects(), *self._stop_effects()]

    def _partition_state(self, partition: TopicPartition) -> PartitionTold:
        return self._in_state(partition, self._context.states[partition])

    def _in_state(self, partition: TopicPartition, state: LeaderAndIsr) -> PartitionTold:
        context = self._context
        assignment = context.replica_assignment(partition)
        return PartitionTold(
            partition=partition,
            topic_id=context.topics[partition.topic].topic_id,
            state=state,
            replicas=assignment.replicas,
            offline_replicas=context.offline_replicas(partition),
            is_new=False,
            adding=assignment.adding,
            removing=assignment.removing,
        )

    def _leader_and_isr_effects(self) -> list[ControllerEffect]:
        return [
            SendLeaderAndIsr(broker_id, self._context.controller_epoch, tuple(states), self._live_leaders(states))
            for broker_id, states in sorted(self._leader_and_isr.items())
        ]

    def _stop_effects(self) -> list[ControllerEffect]:
        return [
            SendStopReplica(broker_id, self._context.controller_epoch, tuple(stops))
            for broker_id, stops in sorted(self._stops.items())
        ]

    def _live_leaders(self, partition_states: list[PartitionTold]) -> tuple[LiveBroker, ...]:
        leaders = sorted({one.state.leader for one in partition_states} & self._context.brokers.keys())
        return tuple(self._context.brokers[leader] for leader in leaders)

    def _metadata_effects(self) -> list[ControllerEffect]:
        """Return effects; brokers with the same partitions share one effect, compared by identity."""
        same: dict[tuple[int, ...], tuple[tuple[PartitionTold, ...], list[int]]] = {}
        for broker_id, states in sorted(self._metadata.items()):
            same.setdefault(tuple(map(id, states)), (tuple(states), []))[1].append(broker_id)
        live = tuple(broker for _, broker in sorted(self._context.brokers.items()))
        return [
            SendUpdateMetadata(tuple(broker_ids), self._context.controller_epoch, states, live)
            for states, broker_ids in same.values()
        ]
