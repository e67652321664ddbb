"""Topics appear in /brokers/topics, get more partitions, or vanish from there."""

from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, UnwatchTopics, WatchTopics
from broker.controller.events import TopicRead, TopicsListed
from broker.controller.topic_ids import forget_topics, has_own_id, identify_topics, take_topic


def topics_listed(context: ControllerContext, event: TopicsListed) -> list[ControllerEffect]:
    """Handle the list of topics. New ones are read first; a missing one was deleted in ZooKeeper by hand."""
    effects: list[ControllerEffect] = []
    context.keep_last_topic_ids_of(event.names)
    watched = context.watched_topics
    gone = watched - event.names - context.deleting
    if gone:
        effects += forget_topics(context, gone & context.topics.keys(), have_vanished=True)
        context.topics_without_id -= gone
        effects.append(UnwatchTopics(frozenset(gone)))
    new = event.names - watched
    if new:
        effects.append(WatchTopics(frozenset(new)))
    return effects


def topic_read(context: ControllerContext, event: TopicRead) -> list[ControllerEffect]:
    """Take over a topic as it was read: new partitions get their first state; a missing topic id is restored first.

    One that was without an id until now has states, which are read with it.
    """
    assignment = event.assignment
    if has_own_id(context, assignment) and assignment.topic not in context.topics_without_id:
        return take_topic(context, assignment, {})
    return [] if assignment.topic in context.deleting else identify_topics(context, {assignment.topic})
