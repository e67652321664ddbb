"""Schemas made of others: one of them, any, all, or not this one."""

from broker.registry.json_schema.comparison import JsonSchemaComparison
from broker.registry.json_schema.model import ALL, ANY, JsonSchemaNode
from broker.registry.json_schema.values import as_key
from broker.registry.schema import SchemaDifference


def compare_negations(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    """Compare `not` schemas in reverse: what is excluded may only become less."""
    with comparison.at("not"):
        differences = comparison.compared(update.subs[0], original.subs[0])
        comparison.add("NOT_TYPE_NARROWED" if comparison.is_harmless(differences) else "NOT_TYPE_EXTENDED")


def compare_combined(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
    olds, news = _distinct(original.subs), _distinct(update.subs)
    if not _compare_criteria(comparison, original, update):
        return
    if len(olds) < len(news):
        comparison.add("PRODUCT_TYPE_EXTENDED" if update.criterion == ALL else "SUM_TYPE_EXTENDED")
    elif len(olds) > len(news):
        comparison.add("PRODUCT_TYPE_NARROWED" if original.criterion == ALL else "SUM_TYPE_NARROWED")
    fits: list[dict[int, list[SchemaDifference]]] = []
    for index, old in enumerate(olds):
        with comparison.at(original.criterion, str(index)):
            pairs = {at: comparison.compared(old, new) for at, new in enumerate(news)}
            fits.append({at: differences for at, differences in pairs.items() if comparison.is_harmless(differences)})
    matched = _matching([set(fit) for fit in fits])
    if len(matched) < min(len(olds), len(news)):
        comparison.add("COMBINED_TYPE_SUBSCHEMAS_CHANGED")
    for old_at, new_at in matched.items():
        comparison.take(fits[old_at][new_at])


def _compare_criteria(comparison: JsonSchemaComparison, original: JsonSchemaNode, update: JsonSchemaNode) -> bool:
    """Compare criteria; return False if nothing more is to be compared."""
    if original.criterion == update.criterion:
        return True
    if (
        update.criterion == ANY
        or (len(original.subs) == 1 == len(update.subs))
        or (len(update.subs) == 1 and original.criterion == ALL)
        or (len(original.subs) == 1 and update.criterion != ALL)
    ):
        comparison.add("COMBINED_TYPE_EXTENDED")
        return True
    comparison.add("COMBINED_TYPE_CHANGED")
    return False


def _distinct(nodes: list[JsonSchemaNode]) -> list[JsonSchemaNode]:
    """Return the nodes without duplicates, in order."""
    distinct: dict[object, JsonSchemaNode] = {}
    for node in nodes:
        subs = tuple((sub.kind, as_key(sub.keywords)) for sub in node.subs)
        distinct.setdefault((node.kind, node.is_integer, as_key(node.keywords), node.criterion, subs), node)
    return list(distinct.values())


def _matching(choices: list[set[int]]) -> dict[int, int]:
    """Return as many pairs as possible, each side used once (augmenting paths)."""
    taken: dict[int, int] = {}

    def find(old: int, tried: set[int]) -> bool:
        for new in sorted(choices[old] - tried):
            tried.add(new)
            if new not in taken or find(taken[new], tried):
                taken[new] = old
                return True
        return False

    for old in range(len(choices)):
        find(old, set())
    return {old: new for new, old in sorted(taken.items(), key=lambda item: item[1])}
