"""Connectors as users of topics, whichever Kafka Connect runs them: for a topic's deletion, and its internal topics."""

from collections.abc import Collection, Iterator

from console.connectors.models import Connector
from console.processes.topic_users import TopicUser

_RESTS = frozenset({"STOPPED", "PAUSED"})


def connectors_of(_topics: Collection[str]) -> Iterator[TopicUser]:
    """All there are, by the topics that their configurations name."""
    for name, kind, state, topics in Connector.objects.values_list("name", "kind", "state", "topics"):
        runs = state not in _RESTS
        if kind == "sink":
            yield TopicUser(f"connector {name}", name, runs, reads=topics)
        else:
            yield TopicUser(f"connector {name}", name, runs, writes=topics)


def origins_of_dead_letters(topic: str) -> Iterator[str]:
    """The topics that sinks read whose dead letters go to `topic`; a pattern of topics names none."""
    for topics in Connector.objects.filter(kind="sink", dead_letters=topic).values_list("topics", flat=True):
        yield from topics


def own_offset_topics() -> list[str]:
    """Where source connectors keep their offsets, if not in their worker's topic (KIP-618)."""
    key = "offsets.storage.topic"
    with_own = Connector.objects.filter(config__has_key=key).values_list("config", flat=True)
    return [str(config[key]) for config in with_own]
