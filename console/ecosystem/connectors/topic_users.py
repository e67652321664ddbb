"""Connectors as users of topics, whichever Kafka Connect runs them: for a topic's deletion, and its internal topics."""

from collections.abc import Collection, Iterator
from enum import Enum

from console.cluster.records.masking import ANY_TOPIC
from console.cluster.records.origins import Origin
from console.ecosystem.connectors.models import TOPICS_KEPT, Connector
from console.ecosystem.connectors.sink_topics import matched_in
from console.kit.access.internal_topics import InternalTopicSource
from console.processes.dependents import wirings
from console.processes.models import ManagedProcess
from console.processes.topic_users import TopicUser
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup

_RESTS = frozenset({"STOPPED", "PAUSED"})
_OFFSETS_KEY = "offsets.storage.topic"


def connectors_of(topics: Collection[str]) -> Iterator[TopicUser]:
    """Yield all connectors, with the topics that their configurations name, or of `topics` match by a pattern."""
    for name, kind, state, named, config in Connector.objects.values_list("name", "kind", "state", "topics", "config"):
        runs = state not in _RESTS
        if kind == "sink":
            yield TopicUser(f"connector {name}", name, runs, reads=[*named, *matched_in(config, topics)])
        else:
            yield TopicUser(f"connector {name}", name, runs, writes=named)


def origins_of_connectors(topic: str) -> Iterator[Origin]:
    """Return the origins by connectors. Of dead letters the topics that their sink reads, by its configuration or its
    consumer group, as a pattern of topics names none, and any topic if not all of them are kept; of copies that
    MirrorMaker 2 makes the topic behind the alias. Without a topic all there are.

    A configuration may name any topic. While it does, more is masked than has to be; that outlasts it only where no
    other connector, stream job or consumer group uses the topic of dead letters when it is named first, and the prefix
    of copies is one of MirrorMaker's.
    """
    sinks = Connector.objects.filter(kind="sink", **({"dead_letters": topic} if topic else {})).exclude(dead_letters="")
    rows = list(sinks.values_list("name", "dead_letters", "topics", "group"))
    read = dict(ConsumerGroup.objects.filter(name__in={row[3] for row in rows}).values_list("name", "topics"))
    used = _used_topics() if rows else set()
    for name, dead_letters, topics, group in rows:
        more = [ANY_TOPIC] if len(topics) >= TOPICS_KEPT else []
        for origin in dict.fromkeys((*topics, *read.get(group, ()), *more)):
            yield Origin(dead_letters, origin, "dead letters of connector", name, dead_letters not in used)
    mirrors = Connector.objects.filter(class_name__endswith="MirrorSourceConnector").values_list("name", "config")
    for name, config in mirrors:
        alias, separator = config.get("source.cluster.alias", ""), config.get("replication.policy.separator", ".")
        if not alias:
            continue  # MirrorMaker refuses it
        prefix = f"{alias}{separator}"
        topics = [topic] if topic else Topic.objects.filter(name__startswith=prefix).values_list("name", flat=True)
        for copy in topics:
            if copy.startswith(prefix):
                yield Origin(copy, copy.removeprefix(prefix), "copy by connector", name, bool(separator))


def own_offset_topics() -> dict[str, InternalTopicSource]:
    """Return the topics in which source connectors keep their offsets, if not in their worker's (KIP-618).

    A configuration may name any topic, and whoever writes one must not hide other people's records by it.
    """
    sources = Connector.objects.filter(kind="source", config__has_key=_OFFSETS_KEY)
    named = {str(config[_OFFSETS_KEY]): name for name, config in sources.values_list("name", "config")}
    if not named:
        return {}
    policies = dict(Topic.objects.filter(name__in=named).values_list("name", "cleanup_policy"))
    used = _used_topics()
    kept = {name: keeping_of(name, policies.get(name, ""), is_used=name in used) for name in named}
    return {
        topic: InternalTopicSource(f"{_OFFSETS_KEY} of connector", named[topic], is_lasting=keeping is Keeping.SURE)
        for topic, keeping in kept.items()
        if keeping is not Keeping.NO
    }


class Keeping(Enum):
    """Whether a topic that a connector names for its offsets is one. `LIKELY` may end, and is not remembered."""

    NO = "no"
    LIKELY = "likely"
    SURE = "sure"


def keeping_of(topic: str, cleanup_policy: str, *, is_used: bool) -> Keeping:
    """Return whether `topic` keeps a connector's offsets. Pure.

    Kafka Connect keeps offsets in compacted topics alone (KAFKA-9216). One that is called as topics of offsets are is
    believed at once, before its policy is known (empty); any other only as long as nothing else uses it.
    """
    if cleanup_policy not in ("", "compact"):
        return Keeping.NO
    if "offset" in topic.lower():
        return Keeping.SURE
    return Keeping.LIKELY if cleanup_policy and not is_used else Keeping.NO


def _used_topics() -> set[str]:
    """Return the topics that connectors or stream jobs read or write, and those of members of consumer groups.

    Members of a group that cannot be described are not known: its topics count as used.
    """
    by_groups = ConsumerGroup.objects.exclude(member_count=0).values_list("topics", flat=True)
    return _used_by_programs().union(*by_groups)


def _used_by_programs() -> set[str]:
    """Return the topics that connectors or stream jobs read or write, but for dead letters."""
    by_connectors = Connector.objects.values_list("topics", flat=True)
    by_streams = (wiring.reads | wiring.writes for wiring in wirings(ManagedProcess.Kind.STREAM))
    streams = ManagedProcess.objects.filter(kind=ManagedProcess.Kind.STREAM).values_list("spec", flat=True)
    dead_letters = {spec.get("properties", {}).get("dead.letter.topic") for spec in streams}
    return set().union(*by_connectors, *(topics - dead_letters for topics in by_streams))
