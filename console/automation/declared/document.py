"""A file of YAML, or JSON, as a tree that knows its lines. Pure, and bounded whatever the file says.

It is made of the parser's events, never of objects a file names. Every scalar stays the text it was written as, for
`no` is a country, and what a setting is called on is Kafka's to say; only an unquoted null, ~ or nothing is None.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml
from yaml import events

#: Of one file; of all files together what a form of the console holds.
TEXT_LENGTH_MAX = 1024 * 1024
#: Names, values and braces of a file, each as often as an alias repeats it.
NODES_MAX = 100_000
#: A declaration is five deep.
DEPTH_MAX = 12
_NOTHING = ("", "~", "null", "Null", "NULL")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class DocumentError(Exception):
    """The file is no document; `line` counts from 1."""

    def __init__(self, line: int, sentence: str):
        super().__init__(sentence)
        self.line = line


@dataclass(frozen=True, slots=True)
class Scalar:
    text: str | None
    line: int
    weight: int = 1
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple["Node", ...]
    line: int
    weight: int
    depth: int


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """`line`: of the key."""

    line: int
    value: "Node"


@dataclass(frozen=True, slots=True)
class DocumentTable:
    entries: Mapping[str, DocumentEntry]
    line: int
    weight: int
    depth: int


Node: TypeAlias = Scalar | Sequence | DocumentTable


@dataclass(slots=True)
class _OpenNode:
    """A table or sequence of which the end has not come yet."""

    line: int
    is_table: bool
    anchor: str | None
    items: list[Node] = field(default_factory=list)
    entries: dict[str, DocumentEntry] = field(default_factory=dict)
    key: Scalar | None = None
    weight: int = 1
    depth: int = 0

    def take(self, node: Node) -> None:
        """Raises DocumentError."""
        self.weight += node.weight
        self.depth = max(self.depth, node.depth + 1)
        if self.weight > NODES_MAX:
            raise DocumentError(node.line, f"There are more than {NODES_MAX:,} names and values: make several files.")
        if self.depth > DEPTH_MAX:
            raise DocumentError(node.line, f"This is nested more than {DEPTH_MAX} deep.")
        if not self.is_table:
            self.items.append(node)
        elif self.key is None:
            self.key = _key(node)
        else:
            self._put(self.key, node)
            self.key = None

    def _put(self, key: Scalar, node: Node) -> None:
        name = key.text or ""
        if name in self.entries:
            first = self.entries[name].line
            raise DocumentError(key.line, f"{name[:80]} stands here a second time; the first is in line {first}.")
        self.entries[name] = DocumentEntry(key.line, node)

    @property
    def closed(self) -> Node:
        if self.is_table:
            return DocumentTable(self.entries, self.line, self.weight, self.depth)
        return Sequence(tuple(self.items), self.line, self.weight, self.depth)


def documents(text: str) -> list[Node]:
    """Return the documents of one file, without empty ones. Raises DocumentError."""
    if len(text) > TEXT_LENGTH_MAX:
        raise DocumentError(1, f"The file has more than {TEXT_LENGTH_MAX:,} characters: make several of it.")
    nodes: list[Node] = []
    try:
        for event, stack, anchors in _stacked(text):
            node = _node(event, stack, anchors)
            if node is not None and not stack:
                nodes.append(node)
    except yaml.YAMLError as error:
        raise DocumentError(_line_of(error), f"This is no YAML: {_why(error)}.") from None
    return [member for member in nodes if member != Scalar(None, member.line)]


def _stacked(text: str) -> Iterator[tuple[events.Event, list[_OpenNode], dict[str, Node]]]:
    stack: list[_OpenNode] = []
    anchors: dict[str, Node] = {}
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, events.DocumentStartEvent):
            anchors.clear()
        yield event, stack, anchors


def _node(event: events.Event, stack: list[_OpenNode], anchors: dict[str, Node]) -> Node | None:
    """Return the node that this event completes, after it was added to its parent."""
    node: Node
    line = event.start_mark.line + 1 if event.start_mark else 0
    if isinstance(event, events.CollectionStartEvent):
        _refuse_tag(event, line)
        if len(stack) >= DEPTH_MAX:
            raise DocumentError(line, f"This is nested more than {DEPTH_MAX} deep.")
        stack.append(_OpenNode(line, isinstance(event, events.MappingStartEvent), event.anchor))
        return None
    if isinstance(event, events.CollectionEndEvent):
        done = stack.pop()
        node, anchor = done.closed, done.anchor
    elif isinstance(event, events.ScalarEvent):
        _refuse_tag(event, line)
        is_nothing = event.implicit[0] and event.value in _NOTHING
        node, anchor = Scalar(None if is_nothing else event.value, line), event.anchor
    elif isinstance(event, events.AliasEvent):
        if event.anchor not in anchors:
            raise DocumentError(line, f"There is no &{event.anchor} above that *{event.anchor} could stand for.")
        node, anchor = anchors[event.anchor], None
    else:
        return None
    if anchor:
        anchors[anchor] = node
    if stack:
        stack[-1].take(node)
    return node


def _refuse_tag(event: events.ScalarEvent | events.CollectionStartEvent, line: int) -> None:
    if event.tag is not None:
        raise DocumentError(line, f"A tag ({event.tag[:60]}) has no meaning here: leave it out.")


def _key(node: Node) -> Scalar:
    if not isinstance(node, Scalar) or node.text is None:
        raise DocumentError(node.line, "A name has to stand before the colon.")
    if node.text == "<<":
        raise DocumentError(node.line, "Merging (<<) has no meaning here: let an alias stand for a whole value.")
    return node


def _line_of(error: yaml.YAMLError) -> int:
    mark = getattr(error, "problem_mark", None)
    return mark.line + 1 if mark else 1


def _why(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    return str(problem)[:200]
