"""Connectors as users of topics, whichever Kafka Connect runs them: for a topic's deletion, and its internal topics."""

from collections.abc import Collection, Iterator

from console.cluster.records.masking import ANY_TOPIC
from console.cluster.records.origins import Origin
from console.ecosystem.connectors.models import TOPICS_KEPT, Connector
from console.kit.access.internal_topics import Naming
from console.processes.topic_users import TopicUser
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup

_RESTS = frozenset({"STOPPED", "PAUSED"})


def connectors_of(_topics: Collection[str]) -> Iterator[TopicUser]:
    """All there are, by the topics that their configurations name."""
    for name, kind, state, topics in Connector.objects.values_list("name", "kind", "state", "topics"):
        runs = state not in _RESTS
        if kind == "sink":
            yield TopicUser(f"connector {name}", name, runs, reads=topics)
        else:
            yield TopicUser(f"connector {name}", name, runs, writes=topics)


def origins_of_connectors(topic: str) -> Iterator[Origin]:
    """Of dead letters the topics that their sink reads, by its configuration or its consumer group, as a pattern of
    topics names none, and any topic if not all of them are kept; of copies that MirrorMaker 2 makes the topic behind
    the alias. Without a topic all there are."""
    sinks = Connector.objects.filter(kind="sink", **({"dead_letters": topic} if topic else {})).exclude(dead_letters="")
    rows = list(sinks.values_list("name", "dead_letters", "topics", "group"))
    read = dict(ConsumerGroup.objects.filter(name__in={row[3] for row in rows}).values_list("name", "topics"))
    for name, dead_letters, topics, group in rows:
        more = [ANY_TOPIC] if len(topics) >= TOPICS_KEPT else []
        for origin in dict.fromkeys((*topics, *read.get(group, ()), *more)):
            yield Origin(dead_letters, origin, "dead letters of connector", name)
    mirrors = Connector.objects.filter(class_name__endswith="MirrorSourceConnector").values_list("name", "config")
    for name, config in mirrors:
        prefix = f"{config.get('source.cluster.alias', '')}{config.get('replication.policy.separator', '.')}"
        topics = [topic] if topic else Topic.objects.filter(name__startswith=prefix).values_list("name", flat=True)
        for copy in topics:
            if copy.startswith(prefix):
                yield Origin(copy, copy.removeprefix(prefix), "copy by connector", name)


def own_offset_topics() -> dict[str, Naming]:
    """Where source connectors keep their offsets, if not in their worker's topic (KIP-618)."""
    key = "offsets.storage.topic"
    with_own = Connector.objects.filter(config__has_key=key).values_list("name", "config")
    return {str(config[key]): Naming(f"{key} of connector", name) for name, config in with_own}
