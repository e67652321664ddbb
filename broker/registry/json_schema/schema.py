"""JSON Schema as one of the kinds of schemas."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema_specifications import REGISTRY as META_SCHEMAS
from referencing import Registry
from referencing.jsonschema import DRAFT7, specification_with

from broker.common.limits import REGISTRY_SCHEMA_DEPTH_MAX
from broker.common.security_limits import REGISTRY_UNIQUE_PAIRS_MAX
from broker.registry.errors import InvalidSchema
from broker.registry.json_schema.difference import COMPATIBLE, LENIENT
from broker.registry.json_schema.differences import differences
from broker.registry.json_schema.java_patterns import check_schema
from broker.registry.json_schema.model import Model
from broker.registry.json_schema.names import Names
from broker.registry.json_schema.objects import dependencies_of, properties_of
from broker.registry.json_schema.tags import change_tags, inline_tags
from broker.registry.schema import NamedSchema
from broker.registry.tags import TagChanges, TaggedEntities

#: Which may have one twice.
_LISTS_OF_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "items", "prefixItems"})


class JsonSchema:
    def __init__(self, raw: Any, referred: Sequence[NamedSchema]):
        self.raw = raw
        self.canonical = _dumps(raw)
        self._specification = _specification(raw)
        registry: Registry[Any] = META_SCHEMAS
        for named in referred:
            content = _loads(named.content.text)
            resource = _specification(content).create_resource(content)
            names = {named.name, resource.id() or named.name}
            registry = registry.with_resources([(name, resource) for name in names])
        self._registry = registry
        self._referred = referred
        self.model = Model(raw, registry, self._specification)

    def normalized(self) -> str:
        return json.dumps(self.raw, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    def incompatibilities(self, writer: "JsonSchema", *, lenient: bool) -> list[str]:
        harmless = LENIENT if lenient else COMPATIBLE
        with closing(Names()) as names:
            schema_differences = differences(writer.model.root, self.model.root, names.has, lenient=lenient)
        return [item.explanation for item in schema_differences if item.type not in harmless]

    def require_valid(self) -> None:
        """Do nothing: an invalid schema was refused when it was parsed."""

    def require_valid_fields(self) -> None:
        for name in self._top_level_fields():
            if name.startswith("$$"):
                raise InvalidSchema(f"#/properties/{name}: Field names cannot start with $$ prefix")

    def has_top_level_field(self, name: str) -> bool:
        return name in self._top_level_fields()

    def _top_level_fields(self) -> Mapping[str, object]:
        properties = self.raw.get("properties") if isinstance(self.raw, dict) else None
        return properties if isinstance(properties, dict) else {}

    def with_tags(self, changes: TagChanges) -> str:
        raw = _loads(self.canonical)
        change_tags(raw, changes)
        return _dumps(raw)

    def inline_tags(self) -> TaggedEntities:
        return inline_tags(self.raw)

    def formatted(self, format_name: str) -> str:
        """Return the text in a format. `resolved`: references stand in it, below definitions."""
        if format_name != "resolved" or not self._referred or not isinstance(self.raw, dict):
            return self.canonical
        place = "$defs" if "$defs" in self.raw or "20" in str(self.raw.get("$schema", "")) else "definitions"
        definitions = dict(self.raw.get(place) or {})
        for named in self._referred:
            content = _loads(named.content.text)
            definitions[named.name] = {"$id": named.name} | content if isinstance(content, dict) else content
        return _dumps(self.raw | {place: definitions})


def parse(text: str, referred: Sequence[NamedSchema], *, is_new: bool) -> JsonSchema:
    """Raises InvalidSchema, also for a reference that would have to be fetched.

    A stored schema that is too costly to check is taken as it is.
    """
    raw = _loads(text)
    if not isinstance(raw, dict | bool):
        raise InvalidSchema("a JSON schema is an object, true or false")
    _require_shallow(raw)
    is_checked = isinstance(raw, dict) and _pairs_to_compare(raw) <= REGISTRY_UNIQUE_PAIRS_MAX
    if isinstance(raw, dict) and not is_checked and is_new:
        raise InvalidSchema("it has too many values of different kinds in one list; use strings or numbers alone")
    if isinstance(raw, dict) and is_checked:
        try:
            check_schema(raw)
        except SchemaError as error:
            raise InvalidSchema(f"{error.json_path}: {error.message[:300]}") from None
    for named in referred:
        if named.content.type != "JSON":
            raise InvalidSchema(f"{named.name} is no JSON schema but {named.content.type}")
    schema = JsonSchema(raw, referred)
    _follow_all(schema)
    return schema


def _follow_all(schema: JsonSchema) -> None:
    """Require that every reference resolves, also in places that are never compared. Raises InvalidSchema."""
    waiting, seen = [schema.model.root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        waiting += node.subs
        if node.model is None or node.kind not in ("object", "array"):
            continue
        waiting += properties_of(node).values() if node.kind == "object" else []
        waiting += dependencies_of(node)[1].values() if node.kind == "object" else []
        for keyword in ("patternProperties",):
            waiting += [node.child(item) for item in (node.keywords.get(keyword) or {}).values()]
        for keyword in ("additionalProperties", "items", "prefixItems", "additionalItems", "contains"):
            child = node.keywords.get(keyword)
            waiting += [
                node.child(item) for item in (child if isinstance(child, list) else [child]) if isinstance(item, dict)
            ]


def _require_shallow(raw: Any) -> None:
    waiting = [(raw, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > 2 * REGISTRY_SCHEMA_DEPTH_MAX:
            raise InvalidSchema(f"the schema is nested more than {2 * REGISTRY_SCHEMA_DEPTH_MAX} deep")
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += [(child, depth + 1) for child in children]


def _pairs_to_compare(raw: Any) -> int:
    """Return how many pairs of values are compared to look for duplicates in lists, as an enum's.

    The validator sorts strings and numbers; of any other list it compares each value with each.
    """
    waiting, count = [("", raw)], 0
    while waiting:
        keyword, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            kinds = set(map(type, value))
            if keyword not in _LISTS_OF_SCHEMAS and not (kinds <= {str} or kinds <= {int, float}):
                count += len(value) ** 2 // 2
            waiting += (("", entry) for entry in value)
    return count


def _specification(raw: Any) -> Any:
    specification = raw.get("$schema") if isinstance(raw, dict) else None
    if not isinstance(specification, str):
        return DRAFT7
    return specification_with(
        specification.replace("https://json-schema.org/draft-", "http://json-schema.org/draft-"), DRAFT7
    )


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSchema(f"it is no JSON: {error}") from None


def _dumps(raw: Any) -> str:
    """Order of members counts, whitespace does not."""
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
