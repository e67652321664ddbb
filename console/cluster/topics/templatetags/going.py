"""`{{ topic.name|going }}`: the planned deletion of a topic that is open, for the head of each of its pages."""

from django import template

from console.cluster.topics.grace_queries import open_of
from console.cluster.topics.models import PlannedDeletion

register = template.Library()


@register.filter
def going(topic: str) -> PlannedDeletion | None:
    return open_of([topic]).get(topic)
