"""Changing a topic's retention: the precondition checked at the last moment, the change, the audit row."""

from collections.abc import Sequence

from console.audit.record import record_event
from console.gateway.connect import cluster_gateway
from console.gateway.errors import GatewayError, RefusedError
from console.retention.plan import Difference, digest
from console.topics.models import Topic

ACTION = "change retention"


class MovedOnError(Exception):
    """The topic's settings are not those the plan was made from; nothing was changed."""


def do_change_retention(actor, topic: Topic, changes: Sequence[Difference], seen: str) -> None:
    """Change what differs, if the settings still are those whose digest is `seen`. Raises MovedOnError, GatewayError.

    Whatever happens is in the audit.
    """
    before = {each.name: each.old if each.old_source == "topic" else "default" for each in changes}
    after = {each.name: "default" if each.new is None else each.new for each in changes}
    gateway = cluster_gateway()
    try:
        if digest(gateway.topic_settings(topic.name)) != seen:
            sentence = "The topic's settings were changed since the plan was shown. Nothing was changed by you."
            record_event(actor, ACTION, "topic", topic.name, before, after, "refused", sentence)
            raise MovedOnError(sentence)
        gateway.change_topic_settings(topic.name, {each.name: each.new for each in changes})
    except GatewayError as error:
        result = "refused" if isinstance(error, RefusedError) else "failed"
        record_event(actor, ACTION, "topic", topic.name, before, after, result, str(error))
        raise
    record_event(actor, ACTION, "topic", topic.name, before, after)
