"""ZooKeeper's data: a tree of znodes, changed by one transaction after the other."""

from collections.abc import Callable
from dataclasses import dataclass, field

from broker.zookeeper.errors import NodeExists, NodeMissing, NodeNotEmpty, WrongVersion
from broker.zookeeper.session import ANY_VERSION, Check, Delete, Operation, SetData, Znode, ZnodeCreation


@dataclass
class Node:
    data: bytes
    czxid: int
    created_at_ms: int
    ephemeral_owner: int = 0
    version: int = 0
    children: set[str] = field(default_factory=set)
    #: How many children there ever were: the number of the next sequential one.
    children_made: int = 0
    #: Of the transaction that wrote the data last.
    mzxid: int = 0

    def as_znode(self, *, with_data: bool = True) -> Znode:
        data = self.data if with_data else b""
        return Znode(data, self.version, self.czxid, self.ephemeral_owner, self.created_at_ms, self.mzxid)


@dataclass(frozen=True)
class Change:
    """What a transaction did to one path: "created", "set" or "deleted"."""

    what: str
    path: str
    data: bytes = b""


class ZnodeTree:
    """`zxid` counts transactions. `now_ms` is ZooKeeper's own clock."""

    def __init__(self, now_ms: Callable[[], int]):
        self._now_ms = now_ms
        self.zxid = 0
        self.nodes: dict[str, Node] = {"/": Node(b"", 0, 0)}

    def get(self, path: str) -> Node:
        node = self.nodes.get(path)
        if node is None:
            raise NodeMissing(path)
        return node

    def transact(self, operations: list[Operation], owner: int) -> tuple[list, list[Change]]:
        """Do all or none; raises the error of the first that was refused."""
        self.zxid += 1
        undo: list[Callable[[], None]] = []
        results, changes = [], []
        try:
            for operation in operations:
                results.append(self._do(operation, owner, undo, changes))
        except Exception:
            for step in reversed(undo):
                step()
            raise
        return results, changes

    def _do(self, operation: Operation, owner: int, undo: list, changes: list[Change]):
        match operation:
            case ZnodeCreation(path, data, ephemeral):
                return self._create(path, data, owner if ephemeral else 0, undo, changes)
            case SetData(path, data, version):
                return self._set(path, data, version, undo, changes)
            case Delete(path, version):
                return self._delete(path, version, undo, changes)
            case Check(path, version):
                _check(path, self.get(path), version)
                return True

    def _create(self, path: str, data: bytes, owner: int, undo: list, changes: list[Change]) -> str:
        if path in self.nodes:
            raise NodeExists(path)
        parent = self.get(parent_of(path))
        self.nodes[path] = Node(data, self.zxid, self._now_ms(), owner, mzxid=self.zxid)
        name = path.rpartition("/")[2]
        parent.children.add(name)
        parent.children_made += 1
        undo.append(lambda: (self.nodes.pop(path), parent.children.discard(name)))
        changes.append(Change("created", path, data))
        return path

    def _set(self, path: str, data: bytes, version: int, undo: list, changes: list[Change]) -> int:
        node = self.get(path)
        _check(path, node, version)
        before = node.data, node.version, node.mzxid

        def restore() -> None:
            node.data, node.version, node.mzxid = before

        undo.append(restore)
        node.data, node.version, node.mzxid = data, node.version + 1, self.zxid
        changes.append(Change("set", path, data))
        return node.version

    def _delete(self, path: str, version: int, undo: list, changes: list[Change]) -> bool:
        node = self.get(path)
        _check(path, node, version)
        if node.children:
            raise NodeNotEmpty(path)
        parent, name = self.get(parent_of(path)), path.rpartition("/")[2]
        del self.nodes[path]
        parent.children.discard(name)

        def restore() -> None:
            self.nodes[path] = node
            parent.children.add(name)

        undo.append(restore)
        changes.append(Change("deleted", path))
        return True

    def next_sequential(self, prefix: str) -> str:
        return f"{prefix}{self.get(parent_of(prefix)).children_made:010d}"

    def owned_by(self, session_id: int) -> list[str]:
        return sorted(path for path, node in self.nodes.items() if node.ephemeral_owner == session_id)


def parent_of(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _check(path: str, node: Node, version: int) -> None:
    if version not in (ANY_VERSION, node.version):
        raise WrongVersion(path)
