"""What an object or array may hold besides what is named: everything, nothing, or what a schema says."""

from typing import Any

from broker.registry.json_schema.comparison import JsonSchemaComparison
from broker.registry.json_schema.model import JsonSchemaNode


def said_rest(node: JsonSchemaNode, keyword: str) -> Any:
    """Return the keyword's schema. In 2020-12 `items` beside `prefixItems` replaces `additionalItems`."""
    if keyword == "additionalItems" and "prefixItems" in node.keywords:
        return node.keywords.get("items")
    return node.keywords.get(keyword)


def rest_of(node: JsonSchemaNode, what: str) -> bool | JsonSchemaNode:
    """Return True for everything, False for nothing, else the schema of the rest; `what` is Properties or Items."""
    for keyword in (f"additional{what}", f"unevaluated{what}"):
        rest = said_rest(node, keyword)
        if rest is None or (keyword.startswith("additional") and rest is True):
            continue
        if isinstance(rest, bool):
            return rest
        child = node.child(rest)
        return child if keyword.startswith("additional") or child.kind not in ("any", "none") else child.kind == "any"
    return True


def compare_rest(
    comparison: JsonSchemaComparison,
    original: JsonSchemaNode,
    update: JsonSchemaNode,
    keyword: str,
    name: str,
    *,
    is_schema_kept: bool = False,
) -> None:
    """Compare what is permitted beyond the named members: ADDED where nothing was permitted, REMOVED the other way;
    EXTENDED, NARROWED between a schema and everything.
    """
    old, new = said_rest(original, keyword), said_rest(update, keyword)
    if is_schema_kept:
        old, new = _without_empty(original, old), _without_empty(update, new)
    with comparison.at(keyword):
        if (old is False) != (new is False):
            comparison.add(f"{name}_{'ADDED' if old is False else 'REMOVED'}")
        elif isinstance(old, dict) and isinstance(new, dict):
            comparison.compare(original.child(old), update.child(new))
        elif isinstance(old, dict) or isinstance(new, dict):
            comparison.add(f"{name}_{'EXTENDED' if isinstance(old, dict) else 'NARROWED'}")


def _without_empty(node: JsonSchemaNode, value: Any) -> Any:
    """Return True for `{}`, which permits everything as `true` does."""
    return True if isinstance(value, dict) and node.child(value).kind == "any" else value
