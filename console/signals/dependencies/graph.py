"""Topics and who reads and writes them as a graph, in which records flow from one to the next. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

#: To either side: who reads a topic, and the topics that those write.
STEPS = 2


class NodeKind(StrEnum):
    TOPIC = "topic"
    GROUP = "group"
    CLIENT = "client"
    STREAM = "stream"
    CONNECTOR = "connector"
    MIRROR = "mirror"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True, order=True)
class DependencyNode:
    """ELSEWHERE is a topic of another cluster, as alias:name; a mirror is its flow; a client is its client id."""

    kind: NodeKind
    name: str


#: Records flow from the first to the second.
Edge = tuple[DependencyNode, DependencyNode]


@dataclass(frozen=True, slots=True)
class Layer:
    """`steps` from the one in the middle: below zero what it hangs on, above zero what hangs on it."""

    steps: int
    nodes: list[DependencyNode]


class Graph:
    def __init__(self, edges: Iterable[Edge]):
        self._after: dict[DependencyNode, set[DependencyNode]] = defaultdict(set)
        self._before: dict[DependencyNode, set[DependencyNode]] = defaultdict(set)
        for source, target in edges:
            self._after[source].add(target)
            self._before[target].add(source)

    def __contains__(self, node: DependencyNode) -> bool:
        return node in self._after or node in self._before

    def writers(self, node: DependencyNode) -> list[DependencyNode]:
        return sorted(self._before.get(node, ()))

    def readers(self, node: DependencyNode) -> list[DependencyNode]:
        return sorted(self._after.get(node, ()))

    def around(self, middle: DependencyNode, steps: int = STEPS) -> list[Layer]:
        """Return the layers from the furthest upstream to the furthest downstream; in a cycle each node is once on a
        side. None is empty.
        """
        up = self._reached(middle, self.writers, steps)
        down = self._reached(middle, self.readers, steps)
        layers = [Layer(-number, nodes) for number, nodes in reversed(list(enumerate(up, 1)))]
        layers += [Layer(0, [middle]), *(Layer(number, nodes) for number, nodes in enumerate(down, 1))]
        return [layer for layer in layers if layer.nodes]

    @staticmethod
    def _reached(
        middle: DependencyNode, step: Callable[[DependencyNode], list[DependencyNode]], steps: int
    ) -> list[list[DependencyNode]]:
        seen, layer, layers = {middle}, [middle], []
        for _ in range(steps):
            layer = sorted({item for node in layer for item in step(node)} - seen)
            seen.update(layer)
            layers.append(layer)
        return layers
