"""Avro schemas read for decoding and encoding: bounded in depth and in number, whoever wrote them. Pure."""

import json
from dataclasses import dataclass, field
from typing import Any

from console.cluster.schemas.errors import UnusableSchemaError

#: Nobody's record is deeper; each level is a few calls of Python.
DEPTH_MAX = 64
NODES_MAX = 20_000
PRIMITIVES = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    node: "Node"
    has_default: bool
    default: Any


@dataclass(slots=True, eq=False)
class Node:
    """One type. What a kind does not have is empty; a record may hold itself."""

    kind: str
    name: str = ""
    logical: str = ""
    scale: int = 0
    size: int = 0
    symbols: tuple[str, ...] = ()
    fields: list[Field] = field(default_factory=list)
    #: Of an array or a map.
    items: "Node | None" = None
    branches: list["Node"] = field(default_factory=list)


class _Reader:
    def __init__(self) -> None:
        self.names: dict[str, Node] = {}
        self._count = 0

    def node(self, said: object, namespace: str, depth: int) -> Node:
        self._count += 1
        if depth > DEPTH_MAX or self._count > NODES_MAX:
            raise UnusableSchemaError("the schema is too deep or too large")
        if isinstance(said, str):
            return self._named(said, namespace)
        if isinstance(said, list):
            return Node("union", branches=[self.node(each, namespace, depth + 1) for each in said])
        if not isinstance(said, dict):
            raise UnusableSchemaError("the schema is no Avro schema")
        kind = said.get("type")
        if not isinstance(kind, str):
            return self.node(kind, namespace, depth + 1)
        if kind in ("record", "error", "enum", "fixed"):
            return self._definition(said, "record" if kind == "error" else kind, namespace, depth)
        if kind in ("array", "map"):
            return Node(kind, items=self.node(said.get("items" if kind == "array" else "values"), namespace, depth + 1))
        if kind not in PRIMITIVES:
            return self._named(kind, namespace)
        return Node(kind, logical=str(said.get("logicalType") or ""), scale=_number(said.get("scale")))

    def _named(self, name: str, namespace: str) -> Node:
        if name in PRIMITIVES:
            return Node(name)
        found = self.names.get(_full(name, namespace)) or self.names.get(name)
        if found is None:
            raise UnusableSchemaError(f"the schema names {name[:100]}, which is not in it")
        return found

    def _definition(self, said: dict[str, Any], kind: str, namespace: str, depth: int) -> Node:
        given = said.get("namespace")
        name = _full(str(said.get("name") or ""), given if isinstance(given, str) else namespace)
        found = self.names[name] = Node(kind, name)
        found.logical, found.scale = str(said.get("logicalType") or ""), _number(said.get("scale"))
        found.size = _number(said.get("size"))
        found.symbols = tuple(str(each) for each in _listed(said.get("symbols")))
        inner = name.rpartition(".")[0]
        for each in _listed(said.get("fields")):
            if not isinstance(each, dict):
                raise UnusableSchemaError("the schema is no Avro schema")
            node = self.node(each.get("type"), inner, depth + 1)
            found.fields.append(Field(str(each.get("name") or ""), node, "default" in each, each.get("default")))
        return found


def read_schema(text: str, referred: tuple[str, ...] = ()) -> Node:
    """`referred`: texts that define names which `text` uses, each after those it uses itself. UnusableSchemaError."""
    reader = _Reader()
    try:
        for each in referred:
            reader.node(json.loads(each), "", 0)
        return reader.node(json.loads(text), "", 0)
    except (ValueError, RecursionError):
        raise UnusableSchemaError("the schema is no Avro schema") from None


def _full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
