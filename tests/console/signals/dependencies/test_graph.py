"""What hangs on what, however topics, jobs and groups are connected."""

from hypothesis import given
from hypothesis import strategies as st

from console.signals.dependencies.graph import STEPS, DependencyNode, Graph, NodeKind

A, B, C = (DependencyNode(NodeKind.TOPIC, name) for name in "abc")
JOB, SINK, READERS = (
    DependencyNode(NodeKind.STREAM, "counts"),
    DependencyNode(NodeKind.CONNECTOR, "files"),
    DependencyNode(NodeKind.GROUP, "readers"),
)


def layers_of(graph: Graph, middle: DependencyNode) -> dict[int, list[DependencyNode]]:
    return {layer.steps: layer.nodes for layer in graph.around(middle)}


def test_around_a_topic_are_who_writes_it_who_reads_it_and_what_those_write():
    graph = Graph([(A, JOB), (JOB, B), (B, SINK), (B, READERS), (C, JOB)])
    assert layers_of(graph, B) == {-2: [A, C], -1: [JOB], 0: [B], 1: [SINK, READERS]}
    assert layers_of(graph, A) == {0: [A], 1: [JOB], 2: [B]}
    assert layers_of(graph, READERS) == {-2: [JOB], -1: [B], 0: [READERS]}


def test_what_goes_in_a_circle_ends():
    graph = Graph([(A, JOB), (JOB, A)])
    assert layers_of(graph, A) == {-1: [JOB], 0: [A], 1: [JOB]}


def test_what_nobody_reads_or_writes_stands_alone():
    assert layers_of(Graph([]), A) == {0: [A]}
    assert A not in Graph([(B, JOB)])


NODES = st.builds(DependencyNode, st.sampled_from(NodeKind), st.text(max_size=2))


@given(st.lists(st.tuples(NODES, NODES)), NODES)
def test_no_layer_is_empty_and_none_has_what_is_nearer_on_its_side(edges, middle):
    layers = Graph(edges).around(middle)
    assert all(layer.nodes for layer in layers)
    assert [layer.steps for layer in layers] == sorted(layer.steps for layer in layers)
    for side in ([layer for layer in layers if layer.steps <= 0], [layer for layer in layers if layer.steps >= 0]):
        nodes = [node for layer in side for node in layer.nodes]
        assert len(nodes) == len(set(nodes))
        assert len(side) <= STEPS + 1
