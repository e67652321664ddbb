"""Records that a failed sink has not read: its group has no members, and offsets only where it has committed."""

from collections.abc import Collection, Mapping

from console.ecosystem.connectors.models import Connector
from console.kit.access.reach import Reach, Resource
from console.state.clusters.access import topics_within
from console.state.clusters.models import Partition
from console.state.consumers.models import GroupPartition

_RESET = "consumer.override.auto.offset.reset"


def unread_by_failed(
    rows: Collection[Connector], matched: Mapping[str, Collection[str]], reach: Reach
) -> dict[str, int]:
    """Return by connector the unread records of failed sinks, without those whose topics are unknown or out of reach.

    `matched`: by connector the topics of its pattern. To a reach that hides topics, those of a pattern are not known.
    Where a sink has not committed, it begins at the log start, as Connect does unless its configuration says otherwise.
    """
    sinks = [row for row in rows if row.kind == "sink" and row.failed_since_ms is not None]
    of_pattern = {} if reach.is_limited(Resource.TOPIC) else matched
    read = {row.name: topics for row in sinks if (topics := row.topics or of_pattern.get(row.name))}
    if not read:
        return {}
    names = {topic for topics in read.values() for topic in topics}
    logs: dict[str, list[tuple[int, int, int]]] = {}
    partitions = Partition.objects.filter(topic__in=topics_within(reach).filter(name__in=names))
    for topic, number, first, end in partitions.values_list("topic__name", "partition", "first_offset", "next_offset"):
        if first is not None and end is not None:
            logs.setdefault(topic, []).append((number, first, end))
    committed: dict[tuple[str, str, int], int] = {
        (group, topic, partition): offset or 0
        for group, topic, partition, offset in GroupPartition.objects.filter(
            group__name__in={row.group for row in sinks}, committed__isnull=False
        ).values_list("group__name", "topic", "partition", "committed")
    }
    return {
        row.name: sum(
            max(0, end - max(first, committed.get((row.group, topic, partition), first)))
            for topic in read[row.name]
            for partition, first, end in logs[topic]
        )
        for row in sinks
        if row.name in read and logs.keys() >= set(read[row.name])
        if row.config.get(_RESET, "earliest") == "earliest"
    }
