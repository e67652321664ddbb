"""A partition none of whose in-sync replicas is alive waits for one of them, unless its topic would rather be served.

`unclean.leader.election.enable` then lets a live replica lead that was not in sync: committed records it never had are
given up, consumers see the log cut (KIP-320). The controller holds no configurations; it asks when there is somebody to
elect, and again when the configuration of such a topic changes.
"""

from collections.abc import Iterable, Mapping

from broker.common.cluster import RECOVERING, LeaderAndIsr
from broker.common.types import NO_LEADER_EPOCH, TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import (
    ControllerEffect,
    ReadUncleanElection,
    TellUncleanElections,
    UncleanElection,
    WriteStates,
)
from broker.controller.election import unclean_state
from broker.controller.events import ConfigChanged, UncleanElectionRead

#: The extent of a log that never had a record.
_EMPTY = (NO_LEADER_EPOCH, 0)


def ask_unclean(context: ControllerContext, partitions: Iterable[TopicPartition]) -> list[ControllerEffect]:
    """Ask for the topics of those partitions that only an unclean election could give a leader."""
    topics = frozenset(partition.topic for partition in partitions if _is_stuck(context, partition))
    return [ReadUncleanElection(topics)] if topics else []


def unclean_election_read(context: ControllerContext, event: UncleanElectionRead) -> list[ControllerEffect]:
    stuck = [
        partition
        for topic in sorted(event.allowed & context.topics.keys())
        for partition in context.partitions(topic)
        if _is_stuck(context, partition)
    ]
    elected = {partition: state for partition in stuck if (state := _unclean_state(context, partition)) is not None}
    return [WriteStates(elected)] if elected else []


def elect_without_records(context: ControllerContext, partitions: Iterable[TopicPartition]) -> list[ControllerEffect]:
    """Give leaders to partitions of which no replica has a record, as all of them have answered: nothing is lost.

    Their brokers were killed before they had made the logs, and the last of the ISR cannot know that. A replica that is
    away may have records, whatever it reported before it led.
    """
    elected = {
        partition: state
        for partition in partitions
        if _is_stuck(context, partition) and _is_known_to_be_empty(context, partition)
        if (state := _unclean_state(context, partition)) is not None
    }
    return [WriteStates(elected)] if elected else []


def _is_known_to_be_empty(context: ControllerContext, partition: TopicPartition) -> bool:
    if not context.states[partition].has_known_isr:
        return False
    extents = context.extents(partition)
    return all(extents.get(replica) == _EMPTY for replica in context.assignment(partition))


def _unclean_state(context: ControllerContext, partition: TopicPartition) -> LeaderAndIsr | None:
    assigned, online = context.assignment(partition), context.online_replicas(partition)
    extents = context.extents(partition)
    return unclean_state(assigned, context.states[partition], online, context.controller_epoch, extents)


def report_unclean_elections(
    context: ControllerContext, written: Mapping[TopicPartition, LeaderAndIsr]
) -> list[ControllerEffect]:
    """Return an effect for states just written, and not yet in `context`, whose leader was not in sync.

    Without a known ISR the leader was in sync if the logs of all replicas were compared: then it does not recover.
    """
    elections = tuple(
        UncleanElection(partition, _leader_before(before), before.lossless_candidates, state.leader)
        for partition, state in written.items()
        if state.has_leader
        if (before := context.states.get(partition)) is not None
        if state.leader not in before.lossless_candidates
        if state.leader_recovery_state == RECOVERING
        or (before.has_known_isr and state.leader not in before.leader_candidates)
    )
    return [TellUncleanElections(elections)] if elections else []


def _leader_before(state: LeaderAndIsr) -> int:
    """Return who led before: the last member of an ISR without a leader has led it, or the last known leader."""
    if not state.has_leader and state.last_known_elr:
        return state.last_known_elr[0]
    return state.isr[0] if not state.has_leader and len(state.isr) == 1 else state.leader


def unclean_config_changed(context: ControllerContext, event: ConfigChanged) -> list[ControllerEffect]:
    """Handle changed configuration of a topic, or of brokers, which are the defaults of topics."""
    if event.topic is None:
        return ask_unclean(context, context.all_partitions())
    return ask_unclean(context, context.partitions(event.topic)) if event.topic in context.topics else []


def _is_stuck(context: ControllerContext, partition: TopicPartition) -> bool:
    """Return whether no replica is alive that may lead as things are, but another one is."""
    state = context.states.get(partition)
    if state is None or not context.is_current(partition):
        return False
    online = context.online_replicas(partition)
    return bool(online) and not set(online).intersection(state.leader_candidates)
