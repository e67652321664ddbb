"""The door to subjects: one named after a topic is reached as the topic is, any other by who sees every topic."""

from django.contrib.auth.models import User

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, require, require_all_topics, require_on

_ENDINGS = ("-key", "-value")


def context_of(subject: str) -> tuple[str, str]:
    """Return the context of a qualified subject, as `.staging`, and its name there; the default context is empty."""
    if not subject.startswith(":."):
        return "", subject
    context, _, name = subject[1:].partition(":")
    return context, name


def topic_of(subject: str) -> str | None:
    """Return the topic by TopicNameStrategy, in any context; None for a subject of another strategy."""
    _, name = context_of(subject)
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending) and name != ending), None)


def is_within(reach: Reach, subject: str, right: Right = Right.VIEW) -> bool:
    topic = topic_of(subject)
    if topic is None:
        return not reach.is_limited(Resource.TOPIC, right)
    return right in reach.rights_on(Resource.TOPIC, topic)


def access_subject(user: User, subject: str, right: Right) -> None:
    """PermissionDenied without `right` on it, whether there is such a subject or not."""
    topic = topic_of(subject)
    if topic is not None:
        require_on(user, Resource.TOPIC, topic, right)
        return
    require(user, right)
    require_all_topics(user, right)
