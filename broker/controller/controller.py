"""The controller: `step(event)` brings what it knows up to date and returns what is to be done about it.

It knows nothing before it is elected and forgets everything when it resigns; between elections it is a bystander and
every event but Elected means nothing.
"""

from collections.abc import Callable
from typing import Any

from broker.controller.broker_changes import broker_updated, brokers_changed
from broker.controller.context import ControllerContext
from broker.controller.controlled_shutdown import shutdown_asked, shutdown_carried_out
from broker.controller.effects import (
    CloseChannel,
    ControllerEffect,
    OpenChannel,
    RemoveIsrChanges,
    UnwatchTopics,
    WatchTopics,
)
from broker.controller.eligible_leaders import config_changed, eligible_leaders_changed, min_isr_read
from broker.controller.events import (
    AssignmentsWritten,
    BrokersChanged,
    BrokerUpdated,
    ConfigChanged,
    ControllerEvent,
    Elected,
    ElectionAsked,
    ElectionTried,
    EligibleLeadersChanged,
    IsrChangesListed,
    IsrChangesRead,
    LeaderAndIsrAnswered,
    LogDirEventsListed,
    LogDirsFailed,
    MinIsrRead,
    ReassignmentsAsked,
    ReassignmentsBegun,
    ReassignmentsByZnode,
    ReassignmentsByZnodeBegun,
    ReplicasDeleted,
    Resigned,
    ShutdownAsked,
    ShutdownCarriedOut,
    StatesWritten,
    Tick,
    TopicRead,
    TopicRemoved,
    TopicsIdentified,
    TopicsListed,
    TopicsToDelete,
    UncleanElectionRead,
)
from broker.controller.isr_changes import isr_changes_listed, isr_changes_read
from broker.controller.leader_elections import election_asked, election_tried
from broker.controller.leader_rebalance import LeaderRebalance, RebalanceSettings
from broker.controller.log_dir_failures import log_dir_events_listed, log_dirs_failed
from broker.controller.reassignment import (
    assignments_written,
    reassignments_asked,
    reassignments_begun,
    reassignments_by_znode,
    reassignments_by_znode_begun,
)
from broker.controller.reassignment_end import removed_replicas_deleted
from broker.controller.role_answers import RoleRepeats, leader_and_isr_answered
from broker.controller.state_changes import states_written, take_over
from broker.controller.state_restoration import report_waiting
from broker.controller.topic_changes import topic_read, topics_listed
from broker.controller.topic_deletion import begin_deletion, replicas_deleted, topic_removed, topics_to_delete
from broker.controller.topic_ids import identify_topics, names_by_id, topics_identified, with_holders_of_records
from broker.controller.unclean_election import unclean_election_read

_FLOWS: dict[type[Any], Callable[..., list[ControllerEffect]]] = {
    BrokersChanged: brokers_changed,
    BrokerUpdated: broker_updated,
    TopicsListed: topics_listed,
    TopicRead: topic_read,
    TopicsIdentified: topics_identified,
    TopicsToDelete: topics_to_delete,
    StatesWritten: states_written,
    TopicRemoved: topic_removed,
    LeaderAndIsrAnswered: leader_and_isr_answered,
    ReplicasDeleted: lambda *message: [*replicas_deleted(*message), *removed_replicas_deleted(*message)],
    ReassignmentsAsked: reassignments_asked,
    ReassignmentsBegun: reassignments_begun,
    ReassignmentsByZnode: reassignments_by_znode,
    ReassignmentsByZnodeBegun: reassignments_by_znode_begun,
    AssignmentsWritten: assignments_written,
    ElectionAsked: election_asked,
    ElectionTried: election_tried,
    LogDirEventsListed: log_dir_events_listed,
    LogDirsFailed: log_dirs_failed,
    ShutdownAsked: shutdown_asked,
    ShutdownCarriedOut: shutdown_carried_out,
    ConfigChanged: config_changed,
    UncleanElectionRead: unclean_election_read,
    EligibleLeadersChanged: eligible_leaders_changed,
    MinIsrRead: min_isr_read,
    IsrChangesListed: isr_changes_listed,
    IsrChangesRead: isr_changes_read,
}


class Controller:
    """Pure: no clock, no sockets, no ZooKeeper. `context` is None while another broker is controller."""

    def __init__(self, rebalance: RebalanceSettings = RebalanceSettings()) -> None:
        self.context: ControllerContext | None = None
        self._rebalance = LeaderRebalance(rebalance)
        self._repeats = RoleRepeats()

    def reach(self, event: ControllerEvent) -> int:
        """Return the maximum number of partitions that handling the event looks at: its cost."""
        known = len(self.context.states) if self.context else 0
        match event:
            case Elected(states=states, topics=topics):
                return known + len(states) + sum(len(topic.partitions) for topic in topics.values())
            case TopicRead(assignment):
                return known + len(assignment.partitions)
            case TopicsIdentified(states=states):
                return known + len(states)
            case StatesWritten(written, stored):
                return known + len(written) + len(stored)
        return known

    def step(self, event: ControllerEvent, now_ms: int) -> list[ControllerEffect]:
        """Process an event and return its effects, to be carried out as `effects.py` says. `now_ms` is the time of the
        event, monotonic.
        """
        if isinstance(event, Elected):
            self._rebalance.begin(now_ms)
            self._repeats.begin()
            return self._become_controller(event)
        if self.context is None:
            return []
        if isinstance(event, Resigned):
            return self._resign(self.context)
        if isinstance(event, Tick):
            return [*self._repeats.tick(self.context, now_ms), *self._rebalance.tick(self.context, now_ms)]
        effects: list[ControllerEffect] = _FLOWS[type(event)](self.context, event)
        return effects

    def _become_controller(self, event: Elected) -> list[ControllerEffect]:
        """Take over ZooKeeper's view, tell every broker all of it, and set right what went wrong meanwhile."""
        effects = self._let_go(event)
        strays = self.context.reassignment_notes.strays if self.context else {}
        last_topic_ids = {name: topic.topic_id for name, topic in self.context.topics.items()} if self.context else {}
        self.context = context = _context_of(event)
        context.last_topic_ids.update(last_topic_ids)
        context.reassignment_notes.strays.update(strays)
        effects += [OpenChannel(broker) for _, broker in sorted(context.brokers.items())]
        effects += report_waiting(context)
        effects += take_over(context, context.all_partitions())
        if event.isr_changes:
            effects.append(RemoveIsrChanges(event.isr_changes))
        if event.topics:
            effects.append(WatchTopics(frozenset(event.topics)))
        effects += identify_topics(context, context.topics_without_id)
        for topic in sorted(context.topics_to_delete & context.topics.keys()):
            context.deleting.discard(topic)
            effects += begin_deletion(context, topic)
        return effects

    def _let_go(self, event: Elected) -> list[ControllerEffect]:
        """Let go of what the controller no longer needs: channels to changed brokers, watches on deleted topics."""
        if self.context is None:
            return []
        before = self.context
        stale = [one for one, broker in sorted(before.brokers.items()) if event.brokers.get(one) != broker]
        effects: list[ControllerEffect] = [CloseChannel(broker_id) for broker_id in stale]
        gone = before.watched_topics - event.topics.keys()
        return [*effects, UnwatchTopics(frozenset(gone))] if gone else effects

    def _resign(self, before: ControllerContext) -> list[ControllerEffect]:
        self.context = None
        effects: list[ControllerEffect] = [CloseChannel(broker_id) for broker_id in sorted(before.brokers)]
        watched = before.watched_topics
        return [*effects, UnwatchTopics(watched)] if watched else effects


def _context_of(event: Elected) -> ControllerContext:
    context = ControllerContext(event.controller_epoch)
    context.brokers = dict(event.brokers)
    context.topics_to_delete = event.topics_to_delete
    context.lost_states = set(event.lost_states)
    context.min_isr = event.min_isr
    context.last_topic_ids = {name: topic_id for name, topic_id in event.last_topic_ids.items() if name in event.topics}
    context.topic_names = names_by_id(event.topics, context.last_topic_ids)
    for assignment in event.topics.values():
        if context.topic_names.get(assignment.topic_id) != assignment.topic:
            context.topics_without_id.add(assignment.topic)
            continue
        context.topics[assignment.topic] = with_holders_of_records(assignment, event.states)
        for partition in context.partitions(assignment.topic):
            context.find_partition(partition, event.states.get(partition))
    context.deleting = set(context.topics_to_delete & context.topics.keys())
    context.reassignment_notes.epoch_due.intersection_update(context.reassignments())
    return context
