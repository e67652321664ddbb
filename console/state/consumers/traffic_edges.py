"""Who writes and reads topics and how fast: clients, and consumer groups by what their members read."""

from collections.abc import Collection
from dataclasses import dataclass

from console.kit.access.reach import Reach
from console.state.client_applications.queries import CONSOLE_CLIENT_ID, shown_name, traffic_within
from console.state.consumers.models import ConsumerGroup, GroupPartition


@dataclass(slots=True)
class TrafficEdge:
    """A client, or a group, and a topic. Rates of clients that pages show by one name are together."""

    topic: str
    name: str
    is_group: bool
    is_produce: bool
    records_per_second: float = 0.0
    used_at_ms: int = 0


def traffic_edges(reach: Reach, topics: Collection[str] | None = None) -> list[TrafficEdge]:
    """Return the edges of `topics`, or of all topics in reach.

    What a client reads as a member of one group alone counts for that group, whether or not the group is in reach. The
    console's own clients have no edges: its pages read records, and it reads what groups commit.
    """
    client_traffic = traffic_within(reach)
    if topics is not None:
        client_traffic = client_traffic.filter(topic__in=topics)
    traffics = [member for member in client_traffic if not member.client_id.startswith(CONSOLE_CLIENT_ID)]
    groups = _groups_by_client({traffic.topic for traffic in traffics if not traffic.is_produce})
    edges: dict[tuple[str, str, bool, bool], TrafficEdge] = {}
    for traffic in traffics:
        name = shown_name(traffic)
        reading = set() if traffic.is_produce else groups.get((traffic.topic, name), set())
        is_group = len(reading) == 1
        key = traffic.topic, next(iter(reading)) if is_group else name, is_group, traffic.is_produce
        edge = edges.setdefault(key, TrafficEdge(*key))
        edge.records_per_second += traffic.records_per_second
        edge.used_at_ms = max(edge.used_at_ms, traffic.used_at_ms)
    return list(edges.values())


def _groups_by_client(topics: Collection[str]) -> dict[tuple[str, str], set[str]]:
    """Return, by topic and client id, the groups that read the topic and have a member of that client id."""
    readers = GroupPartition.objects.filter(topic__in=topics).values_list("topic", "group_id").distinct()
    by_topic = list(readers)
    rows = ConsumerGroup.objects.filter(pk__in={group for _, group in by_topic})
    groups = {group.pk: (group.name, {member[1] for member in group.members}) for group in rows}
    by_client: dict[tuple[str, str], set[str]] = {}
    for topic, group in by_topic:
        name, client_ids = groups[group]
        for client_id in client_ids:
            by_client.setdefault((topic, client_id), set()).add(name)
    return by_client
