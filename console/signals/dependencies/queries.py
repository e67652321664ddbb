"""Who reads and writes topics, out of what the collector wrote, of what a person may see."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from console.ecosystem.connectors.access import connectors_within
from console.ecosystem.connectors.sink_topics import matched_by_pattern
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.reach import Reach, Resource
from console.kit.access.roles import Right
from console.kit.common.current_cluster import is_main
from console.processes.dependents import wirings
from console.processes.models import ManagedProcess
from console.signals.dependencies.graph import DependencyNode, Edge, Graph, Layer, NodeKind
from console.state.clusters.access import topics_within
from console.state.consumers.access import partitions_within
from console.state.consumers.traffic_edges import traffic_edges

ROWS_PER_PAGE = 50
SEARCH_LENGTH_MAX = 249
#: Of a layer, and of a row of the list; the rest are counted.
SHOWN_MAX, NAMED_MAX = 40, 6
_RESOURCES = {
    NodeKind.TOPIC: Resource.TOPIC,
    NodeKind.GROUP: Resource.GROUP,
    NodeKind.STREAM: Resource.PROCESS,
    NodeKind.CONNECTOR: Resource.PROCESS,
}


#: Records per second along an edge, of clients and groups.
Rates = Mapping[Edge, float]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What writes or reads the topic of a row; `records_per_second` is None where no broker tells."""

    node: DependencyNode
    records_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class DependencyTopicRow:
    name: str
    writers: list[Neighbour]
    readers: list[Neighbour]


def topic_page(parameters: QueryDict, reach: Reach) -> "Page[Any]":
    """Return a page of topics with writers and readers; invalid `search` and `page` are ignored."""
    topics = topics_within(reach).order_by("name")
    if text := parameters.get("search", "").strip()[:SEARCH_LENGTH_MAX]:
        topics = topics.filter(name__icontains=text)
    if parameters.get("internal") != "on":
        topics = topics.filter(is_internal=False)
    page: Page[Any] = Paginator(topics.values_list("name", flat=True), ROWS_PER_PAGE).get_page(
        parameters.get("page", "1")[:8]
    )
    page.object_list = rows_of(list(page.object_list), reach)
    return page


def rows_of(names: Collection[str], reach: Reach) -> list[DependencyTopicRow]:
    rates = traffic_rates(reach, names)
    graph = Graph([*process_edges(reach), *group_edges(names, reach), *client_edges(rates)])
    return [
        DependencyTopicRow(
            node.name,
            [Neighbour(writer, rates.get((writer, node))) for writer in graph.writers(node)],
            [Neighbour(reader, rates.get((node, reader))) for reader in graph.readers(node)],
        )
        for node in (DependencyNode(NodeKind.TOPIC, name) for name in names)
    ]


def layers_around(middle: DependencyNode, reach: Reach, rates: Rates) -> list[Layer]:
    """Return two layers to either side, with groups of these topics only; empty if unknown."""
    edges = [*process_edges(reach), *client_edges(rates)]
    if middle.kind is NodeKind.GROUP:
        edges += _edges_of_group(middle, reach)
    below = [node for layer in Graph(edges).around(middle) if layer.steps >= 0 for node in layer.nodes]
    graph = Graph([*edges, *group_edges([item.name for item in below if item.kind is NodeKind.TOPIC], reach)])
    is_known = middle in graph or (
        middle.kind is NodeKind.TOPIC and topics_within(reach).filter(name=middle.name).exists()
    )
    return graph.around(middle) if is_known else []


def traffic_rates(reach: Reach, topics: Collection[str] | None = None) -> Rates:
    """Return records per second of clients and groups that write or read `topics`, or all topics in reach."""
    rates = {}
    for edge in traffic_edges(reach, topics):
        topic, node = (
            DependencyNode(NodeKind.TOPIC, edge.topic),
            DependencyNode(NodeKind.GROUP if edge.is_group else NodeKind.CLIENT, edge.name),
        )
        rates[(node, topic) if edge.is_produce else (topic, node)] = edge.records_per_second
    return rates


def client_edges(rates: Rates) -> Iterator[Edge]:
    """Return those of clients. Groups are related to topics by what they have committed."""
    return (edge for edge in rates if NodeKind.CLIENT in (edge[0].kind, edge[1].kind))


def process_edges(reach: Reach) -> Iterator[Edge]:
    """Yield the edges of stream jobs, connectors and mirrors."""
    for source, target in (*_of_streams(), *_of_connectors(reach), *_of_mirrors()):
        if is_seen(source, reach) and is_seen(target, reach):
            yield source, target


def is_seen(node: DependencyNode, reach: Reach) -> bool:
    resource = _RESOURCES.get(node.kind)
    return resource is None or Right.VIEW in reach.rights_on(resource, node.name)


def group_edges(topics: Collection[str], reach: Reach) -> Iterator[Edge]:
    places = partitions_within(reach).filter(topic__in=topics, committed__isnull=False)
    return _group_edges(places.values_list("topic", "group__name").distinct())


def _edges_of_group(group: DependencyNode, reach: Reach) -> Iterator[Edge]:
    places = partitions_within(reach).filter(group__name=group.name, committed__isnull=False)
    return _group_edges(places.values_list("topic", "group__name").distinct())


def _group_edges(places: Iterable[tuple[str, str]]) -> Iterator[Edge]:
    return ((DependencyNode(NodeKind.TOPIC, topic), DependencyNode(NodeKind.GROUP, group)) for topic, group in places)


def _of_streams() -> Iterator[Edge]:
    if not is_main():
        return
    streams = set(ManagedProcess.objects.filter(kind=ManagedProcess.Kind.STREAM).values_list("name", flat=True))
    for wiring in wirings():
        if wiring.name in streams:
            job = DependencyNode(NodeKind.STREAM, wiring.name)
            yield from ((DependencyNode(NodeKind.TOPIC, read), job) for read in wiring.reads)
            yield from ((job, DependencyNode(NodeKind.TOPIC, write)) for write in wiring.writes)


def _of_connectors(reach: Reach) -> Iterator[Edge]:
    rows = list(connectors_within(reach).defer("trace", "tasks"))
    matched = matched_by_pattern(rows, reach)
    for row in rows:
        connector = DependencyNode(NodeKind.CONNECTOR, row.name)
        for topic in (DependencyNode(NodeKind.TOPIC, name) for name in (*row.topics, *matched.get(row.name, ()))):
            yield (topic, connector) if row.kind == "sink" else (connector, topic)


def _of_mirrors() -> Iterator[Edge]:
    """Yield edges of mirrors, here or in another watched cluster."""
    for flow, cluster, topic, target in MirroredTopic.objects.values_list("flow", "cluster", "topic", "target"):
        mirror = DependencyNode(NodeKind.MIRROR, flow)
        source, _, there = flow.partition("->")
        yield (
            (
                DependencyNode(NodeKind.TOPIC, topic)
                if cluster
                else DependencyNode(NodeKind.ELSEWHERE, f"{source}:{topic}")
            ),
            mirror,
        )
        yield (
            mirror,
            (
                DependencyNode(NodeKind.ELSEWHERE, f"{there}:{target}")
                if cluster
                else DependencyNode(NodeKind.TOPIC, target)
            ),
        )
