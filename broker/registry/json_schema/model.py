"""A JSON schema as one of a few kinds, whatever the draft: so that two can be laid side by side.

A schema that says several things at once (a type and an enum, say) is an `all` of them, as the reference
implementation sees it; a list of types is an `any`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import Schema as RawSchema

from broker.registry.errors import InvalidSchema

ALL, ANY, ONE = "allOf", "anyOf", "oneOf"

_KEYWORDS = {
    "array": (
        "items", "prefixItems", "additionalItems", "unevaluatedItems", "minItems", "maxItems", "uniqueItems",
        "contains",
    ),
    "object": (
        "properties", "required", "minProperties", "maxProperties", "dependencies", "dependentRequired",
        "dependentSchemas", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames",
    ),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength", "pattern"),
}  # fmt: skip


@dataclass(eq=False)
class JsonSchemaNode:
    """`kind`: any, none (nothing is valid), a type (number for integers, too), enum, const, not or combined."""

    kind: str
    keywords: dict[str, Any] = field(default_factory=dict)
    #: Of a combined one; `subs` of `not` is one.
    criterion: str = ""
    subs: list["JsonSchemaNode"] = field(default_factory=list)
    is_integer: bool = False
    model: "Model | None" = None
    resolver: Any = None

    def child(self, raw: Any) -> "JsonSchemaNode":
        """Return the node of a subschema."""
        assert self.model is not None
        return self.model.node(raw, self.resolver)


class Model:
    """The nodes of one schema; each place in its text is one node, so that a schema may contain itself."""

    def __init__(self, raw: Any, registry: Registry[RawSchema], specification: Any):
        self._specification = specification
        self._nodes: dict[int, JsonSchemaNode] = {}
        self._kept: list[Any] = []
        resource = specification.create_resource(raw)
        base = resource.id() or ""
        self._resolver = registry.with_resource(base, resource).resolver(base)
        self.root = self.node(raw, self._resolver)

    def node(self, raw: Any, resolver: Any) -> JsonSchemaNode:
        """Raises InvalidSchema for a reference that leads nowhere."""
        if isinstance(raw, bool):
            return JsonSchemaNode("any" if raw else "none")
        if not isinstance(raw, dict):
            raise InvalidSchema(f"{str(raw)[:100]} is no schema")
        node = self._nodes.get(id(raw))
        if node is None:
            node = self._nodes[id(raw)] = JsonSchemaNode("any", raw, model=self, resolver=resolver)
            self._kept.append(raw)
            self._fill(node, raw, resolver)
        return node

    def _fill(self, node: JsonSchemaNode, raw: dict[str, Any], resolver: Any) -> None:
        if "$id" in raw and resolver is not self._resolver:
            resolver = resolver.in_subresource(self._specification.create_resource(raw))
            node.resolver = resolver
        if isinstance(raw.get("$ref"), str):
            referred = self._referred(raw["$ref"], resolver)
            node.__dict__.update(referred.__dict__)
            return
        parts = self._parts(raw, resolver)
        if len(parts) == 1:
            node.__dict__.update(parts[0].__dict__)
        elif parts:
            node.kind, node.criterion, node.subs = "combined", ALL, parts

    def _referred(self, reference: str, resolver: Any) -> JsonSchemaNode:
        try:
            resolved = resolver.lookup(reference)
        except Unresolvable:
            raise InvalidSchema(
                f"$ref {reference[:200]} leads nowhere: what it names must be one of the references"
            ) from None
        return self.node(resolved.contents, resolved.resolver)

    def _parts(self, raw: dict[str, Any], resolver: Any) -> list[JsonSchemaNode]:
        def part(kind: str, **more: Any) -> JsonSchemaNode:
            return JsonSchemaNode(kind, raw, model=self, resolver=resolver, **more)

        parts = [
            part("combined", criterion=criterion, subs=[self.node(item, resolver) for item in raw[criterion]])
            for criterion in (ALL, ANY, ONE)
            if isinstance(raw.get(criterion), list)
        ]
        if "not" in raw:
            parts.append(part("not", subs=[self.node(raw["not"], resolver)]))
        if isinstance(raw.get("enum"), list):
            parts.append(part("enum"))
        if "const" in raw:
            parts.append(part("const"))
        of_type = _of_type(raw, part)
        if of_type is not None and not (of_type.kind in ("any",) and parts):
            parts.append(of_type)
        return parts


def _of_type(raw: dict[str, Any], part: Callable[..., JsonSchemaNode]) -> JsonSchemaNode | None:
    types = raw.get("type")
    if isinstance(types, list):
        if len(types) == 1:
            return _typed(types[0], part)
        return part("combined", criterion=ANY, subs=[_typed(type_, part) for type_ in types])
    if isinstance(types, str):
        return _typed(types, part)
    for kind, keywords in _KEYWORDS.items():
        if any(keyword in raw for keyword in keywords):
            return part(kind)
    return None


def _typed(name: str, part: Callable[..., JsonSchemaNode]) -> JsonSchemaNode:
    node: JsonSchemaNode = part("number" if name == "integer" else name, is_integer=name == "integer")
    return node
