"""Topics whose znodes have no id: made by a Kafka older than topic ids (KIP-516), or written anew by a tool of one, as
CMAK's "Add partitions" does (KAFKA-14190).

A missing id says nothing of the records: it is unknown, never another topic's. It is restored in this order: the id
the controller knows; the id the controller before has told this broker; the id that a replica's `partition.metadata`
notes, which its broker writes back before it registers (`LogReconciliation`); a new id. Only then does the topic have
roles, so that brokers never host two topics under the same id. Kafka's `processTopicIds` makes new ids at once.

An id that another topic has, because a znode was copied with the id in it, counts as missing.
"""

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from broker.common.cluster import LeaderAndIsr, TopicAssignment
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, IdentifyTopics, ReadTopicsToDelete
from broker.controller.eligible_leaders import ask_min_isr
from broker.controller.events import TopicsIdentified
from broker.controller.reassignment_end import write_assignments
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import correct_states, take_over


def objections_to_new_id(
    assignment: TopicAssignment, states: Mapping[TopicPartition, LeaderAndIsr], compared_since: Collection[int]
) -> list[str]:
    """Return why a topic whose id is not known to the controller may not get a new one: a clause for each partition
    that holds it back, none if it may.

    It may when of each partition that has a state a member of the ISR is among the brokers that have compared their
    logs with the znode since it was written (`compared_since`): that broker would have written back an id that its log
    notes. Otherwise the brokers that hold the records are waited for, because a new id would make strays of their logs;
    that one partition's broker notes no id is no proof for another partition. A registration later than the znode is
    none either: the broker may have read the znode while it still had its id, and registered after that. Nor is a
    broker that lost its log, unless all replicas did: one outside the ISR may have a log that notes the id. Without any
    state no replica ever had a role in the topic.
    """
    return [
        f"partition {partition.partition}: {objection}"
        for partition, state in sorted(states.items())
        if (objection := _objection(assignment.partitions.get(partition.partition, ()), state, compared_since))
    ]


def _objection(replicas: Collection[int], state: LeaderAndIsr, compared_since: Collection[int]) -> str | None:
    heard = set(state.leader_candidates or replicas).intersection(compared_since)
    without_log = {loss.broker_id for loss in state.log_losses if loss.is_total}
    if not heard:
        return f"no broker of its ISR {list(state.leader_candidates)} has registered since"
    may_have_log = {*replicas, *state.leader_candidates} - without_log
    if heard <= without_log and may_have_log:
        others = f"brokers {sorted(may_have_log)} may have one"
        return f"every broker of its ISR {list(state.leader_candidates)} that registered has lost its log, and {others}"
    return None


def names_by_id(topics: Mapping[str, TopicAssignment], last_topic_ids: Mapping[str, UUID]) -> dict[UUID, str]:
    """Return the topic of each id. Of several with one id, it is the one that had it before, else the first by name."""
    names: dict[UUID, str] = {}
    for name in sorted(topics, key=lambda name: (last_topic_ids.get(name) != topics[name].topic_id, name)):
        if topics[name].has_id:
            names.setdefault(topics[name].topic_id, name)
    return names


def has_own_id(context: ControllerContext, assignment: TopicAssignment) -> bool:
    """Return whether the znode has an id that is not another topic's."""
    return assignment.has_id and context.topic_names.get(assignment.topic_id) in (None, assignment.topic)


def identify_topics(context: ControllerContext, topics: Iterable[str]) -> list[ControllerEffect]:
    """Return what gives the topics their ids; nothing without topics."""
    known_ids = {topic: _known_id(context, topic) for topic in sorted(topics)}
    if not known_ids:
        return []
    restored_at = {broker_id: broker.registration.ids_restored_at for broker_id, broker in context.brokers.items()}
    return [IdentifyTopics(known_ids, restored_at, dict(context.topic_names))]


def _known_id(context: ControllerContext, topic: str) -> UUID | None:
    if topic in context.topics:
        return context.topics[topic].topic_id
    topic_id = context.last_topic_ids.get(topic)
    return None if topic_id in context.topic_names else topic_id


def topics_identified(context: ControllerContext, event: TopicsIdentified) -> list[ControllerEffect]:
    context.topics_without_id |= event.unknown - context.topics.keys()
    return [
        effect
        for _, assignment in sorted(event.assignments.items())
        if has_own_id(context, assignment)
        for effect in take_topic(context, assignment, event.states)
    ]


def take_topic(
    context: ControllerContext, assignment: TopicAssignment, states: dict[TopicPartition, LeaderAndIsr]
) -> list[ControllerEffect]:
    """Take a topic as its znode has it, with its id. New partitions have the state in `states`, or get their first one.

    Where a deletion was asked for, it may have been that of an earlier topic of the same name; so that is looked up.
    """
    topic = assignment.topic
    context.topics_without_id.discard(topic)
    effects: list[ControllerEffect] = []
    known = context.topics.get(topic)
    if known is not None and known.topic_id != assignment.topic_id:
        effects += forget_topics(context, {topic})
    if topic in context.deleting:
        return effects
    if topic in context.topics:
        effects += write_assignments(context, _moves_lost_in(context, assignment))
    is_new = topic not in context.topics
    new = context.add_partitions(with_holders_of_records(assignment, states))
    if is_new:
        effects += ask_min_isr(context, {topic})
    with_state = [partition for partition in new if partition in states]
    for partition in with_state:
        context.find_partition(partition, states[partition])
    if topic in context.topics_to_delete:
        return [*effects, ReadTopicsToDelete()]
    if with_state:
        return effects + take_over(context, new)
    return effects + correct_states(context, new)


def with_holders_of_records(
    assignment: TopicAssignment, states: Mapping[TopicPartition, LeaderAndIsr]
) -> TopicAssignment:
    """Return the topic with partitions on the move to the replicas in the znode, from an ISR that has none of them.

    No move leaves such a znode: it was written whole by a tool that had read it before a move, or by hand. Only the ISR
    has the records. Each controller derives the same from the states, so that this is written when the move ends.
    """
    lost = {
        index: ReplicaAssignment(state.leader_candidates).reassigned_to(replicas)
        for index, replicas in assignment.partitions.items()
        if (state := states.get(TopicPartition(assignment.topic, index))) is not None
        and state.leader_candidates
        and not set(state.leader_candidates).intersection(assignment.of(index).replicas)
    }
    return assignment.having(lost)


def _moves_lost_in(context: ControllerContext, assignment: TopicAssignment) -> dict[TopicPartition, ReplicaAssignment]:
    """Return the moves under way that the topic's znode does not say any more, for them to be written again.

    A tool older than KIP-455, such as CMAK, leaves out what is added and removed. The next controller would take for
    the replicas what was written, perhaps without those that hold the records by now.
    """
    notes = context.reassignment_notes
    return {
        partition: wanted
        for partition in context.partitions(assignment.topic)
        if (wanted := context.replica_assignment(partition)).is_reassigning or partition in notes.leaving
        if partition.partition in assignment.partitions
        if not (written := assignment.of(partition.partition)).is_reassigning and written != wanted
    }


def forget_topics(
    context: ControllerContext, topics: Collection[str], *, have_vanished: bool = False
) -> list[ControllerEffect]:
    """Drop what is known of the topics. have_vanished: their znodes are gone, and no others of their names came."""
    batch = RequestBatch(context)
    for topic in sorted(topics):
        batch.add_deleted(context.partitions(topic), has_vanished=have_vanished)
        context.forget_topic(topic)
    return batch.effects()
