"""Topics appear in /brokers/topics, get more partitions, or vanish from there."""

from broker.controller.context import ControllerContext
from broker.controller.effects import Effect, ReadTopicsToDelete, UnwatchTopics, WatchTopics
from broker.controller.events import TopicRead, TopicsListed
from broker.controller.request_batch import RequestBatch
from broker.controller.state_changes import correct_states


def topics_listed(context: ControllerContext, event: TopicsListed) -> list[Effect]:
    """New topics are read first. A topic that is gone without a request to delete it was removed by somebody's hand."""
    effects: list[Effect] = []
    gone = context.topics.keys() - event.names - context.deleting
    if gone:
        effects += forget_topics(context, gone)
        effects.append(UnwatchTopics(frozenset(gone)))
    new = event.names - context.topics.keys()
    if new:
        effects.append(WatchTopics(frozenset(new)))
    return effects


def topic_read(context: ControllerContext, event: TopicRead) -> list[Effect]:
    """A topic as it is now: partitions that are new to us get their first state.

    Where a deletion was asked for, it may have been that of an earlier topic of the same name; so that is looked up.
    """
    topic = event.assignment.topic
    effects: list[Effect] = []
    known = context.topics.get(topic)
    if known is not None and known.topic_id != event.assignment.topic_id:
        effects += forget_topics(context, {topic})
    if topic in context.deleting:
        return effects
    new = context.add_partitions(event.assignment)
    if topic in context.topics_to_delete:
        return [*effects, ReadTopicsToDelete()]
    return effects + correct_states(context, new)


def forget_topics(context: ControllerContext, topics: set[str]) -> list[Effect]:
    batch = RequestBatch(context)
    for topic in sorted(topics):
        batch.add_deleted(context.partitions(topic))
        context.forget_topic(topic)
    return batch.effects()
