"""Which rows of what protects topics count now, and what is configured still."""

from collections.abc import Iterable, Iterator, Mapping

from console.cluster.protections.models import TopicProtection
from console.cluster.records.origins import all_origins
from console.kit.access.internal_names import origins_by_name
from console.kit.access.internal_topics import InternalTopicSource, configured_names
from console.state.clusters.models import Topic


def named_now(row: TopicProtection) -> str:
    """Return where the configuration is that the row comes from, empty if there is none any more."""
    if row.origin:
        origins = (origin for origin in all_origins() if (origin.topic, origin.name) == (row.topic, row.origin))
        return next((f"{origin.where} {origin.source}".strip() for origin in origins), "")
    naming = naming_of(row.topic, configured_names())
    return f"{naming.where} {naming.source}".strip() if naming else ""


def naming_of(topic: str, configured: Mapping[str, InternalTopicSource]) -> InternalTopicSource | None:
    """Return where it is configured that `topic` is internal, or that what it is a copy of by its name is."""
    names = (name for name in (topic, *origins_by_name(topic)) if name in configured)
    return next((configured[name] for name in names), None)


def protections_of(topic: Topic) -> list[TopicProtection]:
    return [
        protection
        for protection in TopicProtection.objects.filter(topic=topic.name)
        if protection.is_of(topic.topic_id)
    ]


def remembered_internal_names() -> frozenset[str]:
    rows = list(TopicProtection.objects.filter(origin=""))
    ids = _ids(row.topic for row in rows) if rows else {}
    return frozenset(row.topic for row in rows if row.topic in ids and row.is_of(ids[row.topic]))


def remembered_origins(topic: str) -> Iterator[str]:
    """Yield the remembered origins, also of a deleted topic: a copy may still exist."""
    rows = list(TopicProtection.objects.filter(topic=topic).exclude(origin=""))
    ids = _ids([topic]) if rows else {}
    return (row.origin for row in rows if row.is_of(ids.get(topic, "")))


def _ids(topics: Iterable[str]) -> dict[str, str]:
    return dict(Topic.objects.filter(name__in=set(topics)).values_list("name", "topic_id"))
