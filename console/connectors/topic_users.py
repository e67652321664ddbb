"""Connectors as users of topics, whichever Kafka Connect runs them: for whoever deletes a topic."""

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
