"""The topics that sinks are to read, those of a pattern among them, and which of them no member of their group holds.

A consumer by pattern sees only topics that its login may describe, and one by name waits for a topic that is not there:
neither fails a task, in Apache Kafka Connect as in ours.
"""

from collections.abc import Collection, Iterable, Mapping

from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.places import pattern_in
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.rights import Right
from console.kit.gateway.topics.topic_pattern import matched_topics
from console.state.clusters.access import topics_within
from console.state.consumers.models import ConsumerGroup, GroupPartition

#: A topic that was just made, or a group that begins, may take this long.
UNASSIGNED_MS = 60_000
#: Patterns of sinks are matched with all topics no more often than this.
_LOOK_MS = 15_000
#: In other states its members hold nothing for a moment.
_SETTLED = ("Stable", "Empty", "Dead")
_OTHER_CLUSTER = "consumer.override.bootstrap.servers"


def matched_by_pattern(rows: Iterable[Connector], reach: Reach) -> dict[str, list[str]]:
    """Return by sink the topics within reach that its pattern matches now; without those that have none."""
    patterns = {row.name: pattern for row in rows if row.kind == "sink" and (pattern := pattern_in(row.config))}
    if not patterns:
        return {}
    names = list(topics_within(reach).values_list("name", flat=True))
    matched = {name: matched_topics(pattern, names) for name, pattern in patterns.items()}
    return {name: topics for name, topics in matched.items() if topics is not None}


def matched_in(config: Mapping[str, str], topics: Iterable[str]) -> list[str]:
    """Return those of `topics` that the pattern of a sink's configuration matches; empty without a usable pattern."""
    pattern = pattern_in(config)
    return matched_topics(pattern, topics) or [] if pattern else []


def unassigned_topics(
    rows: Iterable[Connector], matched: Mapping[str, Collection[str]], reach: Reach
) -> dict[str, list[str]]:
    """Return by running sink the topics that it is to read and that no member of its group holds.

    Without sinks whose group is out of reach, rebalances, or is one of another cluster.
    """
    wanted = {
        row.name: (row.group, topics)
        for row in rows
        if row.kind == "sink" and row.state == "RUNNING" and row.running_count and not row.is_failed
        if _OTHER_CLUSTER not in row.config and Right.VIEW in reach.rights_on(Resource.GROUP, row.group)
        if (topics := set(matched[row.name]) if row.name in matched else _named(row))
    }
    if not wanted:
        return {}
    groups = {group for group, _ in wanted.values()}
    members = ConsumerGroup.objects.filter(name__in=groups)
    unsettled = set(members.exclude(state__in=_SETTLED, is_silent=False).values_list("name", flat=True))
    held: dict[str, set[str]] = {}
    places = GroupPartition.objects.filter(group__name__in=groups).exclude(member_id="")
    for group, topic in places.values_list("group__name", "topic").distinct():
        held.setdefault(group, set()).add(topic)
    return {
        name: missing
        for name, (group, topics) in wanted.items()
        if group not in unsettled and (missing := sorted(topics - held.get(group, set())))
    }


class UnassignedSince:
    """Since when sinks leave topics unread, for one thread; what lasts for less than `UNASSIGNED_MS` is not told."""

    def __init__(self) -> None:
        self._since_ms: dict[str, int] = {}
        self._looked_at_ms = 0
        self._lasting: dict[str, int] = {}

    def look(self, at_ms: int) -> dict[str, int]:
        """Return by sink since when topics that it is to read are not held by any member of its group."""
        if 0 <= at_ms - self._looked_at_ms < _LOOK_MS:
            return self._lasting
        rows = list(Connector.objects.filter(kind="sink", state="RUNNING").defer("trace", "tasks"))
        known = {row.name: row.unassigned_since_ms for row in rows}
        missing = unassigned_topics(rows, matched_by_pattern(rows, EVERYTHING), EVERYTHING)
        self._since_ms = {name: self._since_ms.get(name) or known[name] or at_ms for name in missing}
        self._looked_at_ms = at_ms
        self._lasting = {name: since for name, since in self._since_ms.items() if at_ms - since >= UNASSIGNED_MS}
        return self._lasting


def _named(row: Connector) -> set[str]:
    """Return the topics of `topics`, as far as the row has them: it may name others for its dead letters."""
    named = {part.strip() for part in row.config.get("topics", "").split(",")}
    return named.intersection(row.topics)
