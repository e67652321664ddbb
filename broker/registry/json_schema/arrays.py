"""Arrays: one schema for all items, or one for each of the first ones and something for the rest."""

from broker.registry.json_schema.comparison import JsonSchemaComparison
from broker.registry.json_schema.model import JsonSchemaNode
from broker.registry.json_schema.openness import compare_rest, rest_of
from broker.registry.json_schema.values import compare_bounds

_BOUNDS = {
    "maxItems": "MAX_ITEMS", "minItems": "MIN_ITEMS", "maxContains": "MAX_CONTAINS", "minContains": "MIN_CONTAINS",
}  # fmt: skip


def compare_arrays(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    with comparison.at("items"):
        comparison.compare(_all_items(original), _all_items(update))
    _compare_tuples(comparison, original, update)
    compare_rest(comparison, original, update, "additionalItems", "ADDITIONAL_ITEMS")
    compare_rest(comparison, original, update, "unevaluatedItems", "UNEVALUATED_ITEMS", is_schema_kept=True)
    compare_bounds(comparison, original, update, _BOUNDS)
    was, is_ = original.keywords.get("uniqueItems") is True, update.keywords.get("uniqueItems") is True
    if was != is_:
        comparison.add(f"UNIQUE_ITEMS_{'ADDED' if is_ else 'REMOVED'}", "uniqueItems")


def _all_items(node: JsonSchemaNode) -> JsonSchemaNode | None:
    items = node.keywords.get("items")
    is_for_all = "prefixItems" not in node.keywords and isinstance(items, dict | bool)
    return node.child(items) if is_for_all else None


def _tuple(node: JsonSchemaNode) -> list[JsonSchemaNode]:
    items = node.keywords.get("prefixItems", node.keywords.get("items"))
    return [node.child(item) for item in items] if isinstance(items, list) else []


def _compare_tuples(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    olds, news = _tuple(original), _tuple(update)
    for index in range(max(len(olds), len(news))):
        with comparison.at("items", str(index)):
            if index >= len(news):
                _removed(comparison, olds[index], update)
            elif index >= len(olds):
                _added(comparison, original, news[index])
            else:
                comparison.compare(olds[index], news[index])


def _removed(comparison: JsonSchemaComparison, old: JsonSchemaNode, update: JsonSchemaNode) -> None:
    rest = rest_of(update, "Items")
    if rest is True:
        comparison.add("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL")
    elif isinstance(rest, JsonSchemaNode):
        differences = comparison.compared(old, rest)
        comparison.take(differences)
        verdict = "IS" if comparison.is_harmless(differences) else "NOT"
        comparison.add(f"ITEM_REMOVED_{verdict}_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    else:
        kind = "ITEM_WITH_FALSE_REMOVED" if old.kind == "none" else "ITEM_REMOVED"
        comparison.add(f"{kind}_FROM_CLOSED_CONTENT_MODEL")


def _added(comparison: JsonSchemaComparison, original: JsonSchemaNode, new: JsonSchemaNode) -> None:
    rest = rest_of(original, "Items")
    if rest is True:
        kind = "ITEM_WITH_EMPTY_SCHEMA_ADDED" if new.kind == "any" else "ITEM_ADDED"
        comparison.add(f"{kind}_TO_OPEN_CONTENT_MODEL")
    elif isinstance(rest, JsonSchemaNode):
        differences = comparison.compared(rest, new)
        comparison.take(differences)
        verdict = "IS" if comparison.is_harmless(differences) else "NOT"
        comparison.add(f"ITEM_ADDED_{verdict}_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL")
    else:
        comparison.add("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL")
