"""Objects. What they may have besides the properties that are named decides what a new property means: in an open
model anything may have been there before, of another type.
"""

from broker.registry.json_schema.comparison import JsonSchemaComparison, Means
from broker.registry.json_schema.model import JsonSchemaNode
from broker.registry.json_schema.openness import compare_rest, rest_of
from broker.registry.json_schema.values import compare_bounds


def compare_objects(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    _compare_properties(comparison, original, update)
    compare_bounds(comparison, original, update, {"maxProperties": "MAX_PROPERTIES", "minProperties": "MIN_PROPERTIES"})
    compare_rest(comparison, original, update, "additionalProperties", "ADDITIONAL_PROPERTIES")
    compare_rest(comparison, original, update, "unevaluatedProperties", "UNEVALUATED_PROPERTIES", is_schema_kept=True)
    _compare_dependencies(comparison, original, update)
    _compare_required(comparison, original, update)


def properties_of(node: JsonSchemaNode) -> dict[str, JsonSchemaNode]:
    return {name: node.child(raw) for name, raw in (node.keywords.get("properties") or {}).items()}


def required_of(node: JsonSchemaNode) -> set[str]:
    required = node.keywords.get("required")
    return {item for item in required if isinstance(item, str)} if isinstance(required, list) else set()


def is_open(node: JsonSchemaNode) -> bool:
    return not node.keywords.get("patternProperties") and rest_of(node, "Properties") is True


def _cover(means: Means, node: JsonSchemaNode, name: str) -> JsonSchemaNode | None:
    """Return the schema that covers an undeclared property of this name: of a matching pattern, else of
    additionalProperties.
    """
    for pattern, raw in (node.keywords.get("patternProperties") or {}).items():
        if means(pattern, name):
            return node.child(raw)
    rest = rest_of(node, "Properties")
    return rest if isinstance(rest, JsonSchemaNode) else None


def _compare_properties(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    olds, news = properties_of(original), properties_of(update)
    required = required_of(update)
    for name in sorted(olds.keys() | news.keys()):
        with comparison.at("properties", name):
            if name not in news:
                _removed(comparison, olds[name], update, name)
            elif name not in olds:
                _added(comparison, original, news[name], name, is_required=name in required)
            else:
                comparison.compare(olds[name], news[name])


def _removed(comparison: JsonSchemaComparison, old: JsonSchemaNode, update: JsonSchemaNode, name: str) -> None:
    if is_open(update):
        comparison.add("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL")
    elif (cover := _cover(comparison.means, update, name)) is not None:
        differences = comparison.compared(old, cover)
        comparison.take(differences)
        verdict = "IS" if comparison.is_harmless(differences) else "NOT"
        comparison.add(f"PROPERTY_REMOVED_{verdict}_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    elif old.kind == "none":
        comparison.add("PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL")
    else:
        comparison.add("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL")


def _added(
    comparison: JsonSchemaComparison, original: JsonSchemaNode, new: JsonSchemaNode, name: str, *, is_required: bool
) -> None:
    if is_open(original) and new.kind == "any":
        comparison.add("PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL")
        return
    if not is_open(original) and (cover := _cover(comparison.means, original, name)) is not None:
        differences = comparison.compared(cover, new)
        comparison.take(differences)
        verdict = "IS" if comparison.is_harmless(differences) else "NOT"
        comparison.add(f"PROPERTY_ADDED_{verdict}_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    kind = "REQUIRED_PROPERTY" if is_required else "OPTIONAL_PROPERTY"
    kind += "_WITH_DEFAULT" if is_required and "default" in new.keywords else ""
    comparison.add(f"{kind}_ADDED_TO_{'OPEN' if is_open(original) else 'UNOPEN'}_CONTENT_MODEL")


def _compare_required(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    """Compare `required` of properties that both sides name; added and removed properties are compared elsewhere."""
    news = properties_of(update)
    old_required, new_required = required_of(original), required_of(update)
    for name in sorted(properties_of(original).keys() & news.keys()):
        was, is_ = name in old_required, name in new_required
        if was != is_:
            change = "REMOVED" if was else "WITH_DEFAULT_ADDED" if "default" in news[name].keywords else "ADDED"
            comparison.add(f"REQUIRED_ATTRIBUTE_{change}", f"required/{name}")


def dependencies_of(node: JsonSchemaNode) -> tuple[dict[str, set[str]], dict[str, JsonSchemaNode]]:
    """Return by property which other properties and which schema must hold; before 2019-09 one keyword had both."""
    both = node.keywords.get("dependencies") or {}
    names = {name: set(item) for name, item in both.items() if isinstance(item, list)}
    names |= {name: set(item) for name, item in (node.keywords.get("dependentRequired") or {}).items()}
    schemas = {name: node.child(item) for name, item in both.items() if not isinstance(item, list)}
    return names, schemas | {
        name: node.child(item) for name, item in (node.keywords.get("dependentSchemas") or {}).items()
    }


def _compare_dependencies(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    (old_names, old_schemas), (new_names, new_schemas) = dependencies_of(original), dependencies_of(update)
    for name in sorted(old_names.keys() | new_names.keys()):
        old, new = old_names.get(name), new_names.get(name)
        if old == new:
            continue
        if old is None or new is None:
            change = "ADDED" if old is None else "REMOVED"
        else:
            change = "EXTENDED" if old < new else "NARROWED" if new < old else "CHANGED"
        comparison.add(f"DEPENDENCY_ARRAY_{change}", f"dependencies/{name}")
    for name in sorted(old_schemas.keys() | new_schemas.keys()):
        with comparison.at("dependencies", name):
            if name not in old_schemas:
                comparison.add("DEPENDENCY_SCHEMA_ADDED")
            elif name not in new_schemas:
                comparison.add("DEPENDENCY_SCHEMA_REMOVED")
            else:
                comparison.compare(old_schemas[name], new_schemas[name])
