"""What changed from one JSON schema to another, and whether everything that was valid still is.

Differences are named as in the reference implementation. Whether one is harmless says COMPATIBLE; everything else is
not, so that what is forgotten there refuses too much rather than too little.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from broker.common.limits import REGISTRY_COMPARISONS_MAX
from broker.registry.errors import InvalidSchema
from broker.registry.json_schema.model import ALL, ANY, Node

COMPATIBLE = frozenset(
    [
        "ID_CHANGED",
        "DESCRIPTION_CHANGED",
        "TITLE_CHANGED",
        "DEFAULT_CHANGED",
        "SCHEMA_REMOVED",
        "TYPE_EXTENDED",
        "MAX_LENGTH_INCREASED",
        "MAX_LENGTH_REMOVED",
        "MIN_LENGTH_DECREASED",
        "MIN_LENGTH_REMOVED",
        "PATTERN_REMOVED",
        "MAXIMUM_INCREASED",
        "MAXIMUM_REMOVED",
        "MINIMUM_DECREASED",
        "MINIMUM_REMOVED",
        "EXCLUSIVE_MAXIMUM_INCREASED",
        "EXCLUSIVE_MAXIMUM_REMOVED",
        "EXCLUSIVE_MINIMUM_DECREASED",
        "EXCLUSIVE_MINIMUM_REMOVED",
        "MULTIPLE_OF_REDUCED",
        "MULTIPLE_OF_REMOVED",
        "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED",
        "REQUIRED_ATTRIBUTE_REMOVED",
        "DEPENDENCY_ARRAY_NARROWED",
        "DEPENDENCY_ARRAY_REMOVED",
        "DEPENDENCY_SCHEMA_REMOVED",
        "MAX_PROPERTIES_INCREASED",
        "MAX_PROPERTIES_REMOVED",
        "MIN_PROPERTIES_DECREASED",
        "MIN_PROPERTIES_REMOVED",
        "ADDITIONAL_PROPERTIES_ADDED",
        "ADDITIONAL_PROPERTIES_EXTENDED",
        "UNEVALUATED_PROPERTIES_ADDED",
        "UNEVALUATED_PROPERTIES_EXTENDED",
        "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL",
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL",
        "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "MAX_ITEMS_INCREASED",
        "MAX_ITEMS_REMOVED",
        "MIN_ITEMS_DECREASED",
        "MIN_ITEMS_REMOVED",
        "MAX_CONTAINS_INCREASED",
        "MAX_CONTAINS_REMOVED",
        "MIN_CONTAINS_DECREASED",
        "MIN_CONTAINS_REMOVED",
        "UNIQUE_ITEMS_REMOVED",
        "ADDITIONAL_ITEMS_ADDED",
        "ADDITIONAL_ITEMS_EXTENDED",
        "UNEVALUATED_ITEMS_ADDED",
        "UNEVALUATED_ITEMS_EXTENDED",
        "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL",
        "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL",
        "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL",
        "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "ENUM_ARRAY_EXTENDED",
        "COMBINED_TYPE_EXTENDED",
        "PRODUCT_TYPE_NARROWED",
        "SUM_TYPE_EXTENDED",
        "NOT_TYPE_NARROWED",
    ]
)
#: Harmless besides, where compatibilityPolicy=LENIENT says so: producers that send what no schema names are trusted.
LENIENT = COMPATIBLE | frozenset(
    [
        "ADDITIONAL_PROPERTIES_NARROWED",
        "ADDITIONAL_PROPERTIES_REMOVED",
        "UNEVALUATED_PROPERTIES_NARROWED",
        "UNEVALUATED_PROPERTIES_REMOVED",
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
        "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    ]
)

_Pair = tuple[int, int]


class Difference(NamedTuple):
    type: str
    path: str

    def __str__(self) -> str:
        return f"{self.type} #/{self.path}"


def differences(original: Node, update: Node, *, lenient: bool = False) -> list[Difference]:
    """Raises InvalidSchema for schemas that would take too long.

    A pair that contains itself counts as compatible while it is compared. What was concluded from that may be wrong if
    the pair turns out not to be: so it is done again, with all such pairs known, until nothing new comes of it.
    """
    harmless = LENIENT if lenient else COMPATIBLE
    wrong: frozenset[_Pair] = frozenset()
    while True:
        comparison = Comparison(harmless, wrong)
        comparison.compare(original, update)
        found = comparison.incompatible_pairs()
        if not comparison.has_assumed or found == wrong:
            return comparison.found
        wrong = found


class Comparison:
    """Collects `found` at the current path."""

    def __init__(self, harmless: frozenset[str], wrong: frozenset[_Pair]):
        self.found: list[Difference] = []
        self.has_assumed = False
        self._harmless = harmless
        self._wrong = wrong
        self._path: list[str] = []
        self._results: dict[_Pair, list[Difference] | None] = {}
        self._left = REGISTRY_COMPARISONS_MAX

    def incompatible_pairs(self) -> frozenset[_Pair]:
        return frozenset(pair for pair, found in self._results.items() if found and not self.is_harmless(found))

    def is_harmless(self, found: list[Difference]) -> bool:
        return all(each.type in self._harmless for each in found)

    def add(self, type_: str, at: str = "") -> None:
        self.found.append(Difference(type_, "/".join([*self._path, at] if at else self._path)))

    def take(self, found: list[Difference]) -> None:
        self.found += found

    @contextmanager
    def at(self, *path: str) -> Iterator[None]:
        self._path += path
        yield
        del self._path[len(self._path) - len(path) :]

    def apart(self, compare: Callable[[], None]) -> list[Difference]:
        """What `compare` finds, without taking it."""
        before, self.found = self.found, []
        compare()
        found, self.found = self.found, before
        return found

    def compared(self, original: Node | None, update: Node | None) -> list[Difference]:
        return self.apart(lambda: self.compare(original, update))

    def compare(self, original: Node | None, update: Node | None) -> None:
        if original is None or update is None:
            if original is not update:
                self.add("SCHEMA_ADDED" if original is None else "SCHEMA_REMOVED")
            return
        pair = (id(original), id(update))
        if pair in self._results:
            known = self._results[pair]
            if known is None:
                self.has_assumed = True
                known = [Difference("TYPE_CHANGED", "")] if pair in self._wrong else []
        else:
            self._left -= 1
            if self._left < 0:
                raise InvalidSchema("comparing it takes too long: it is combined of too many schemas")
            self._results[pair] = None
            path, self._path = self._path, []
            known = self.apart(lambda: self._compare(original, update))
            self._path = path
            self._results[pair] = known
        prefix = "/".join(self._path)
        self.found += [Difference(type_, "/".join(filter(None, (prefix, at)))) for type_, at in known]

    def _compare(self, original: Node, update: Node) -> None:
        if original.kind != update.kind:
            if not self._is_conversion(original, update):
                self._of_other_kind(original, update)
            return
        for name, type_ in _ANNOTATIONS.items():
            if original.said.get(name) != update.said.get(name):
                self.add(type_)
        match original.kind:
            case "string":
                from broker.registry.json_schema.values import compare_strings as compare_kind
            case "number":
                from broker.registry.json_schema.values import compare_numbers as compare_kind
            case "enum":
                from broker.registry.json_schema.values import compare_enums as compare_kind
            case "const":
                from broker.registry.json_schema.values import compare_consts as compare_kind
            case "object":
                from broker.registry.json_schema.objects import compare_objects as compare_kind
            case "array":
                from broker.registry.json_schema.arrays import compare_arrays as compare_kind
            case "combined":
                compare_kind = compare_combined
            case "not":
                compare_kind = _compare_negations
            case _:
                return
        compare_kind(self, original, update)

    def _of_other_kind(self, original: Node, update: Node) -> None:
        if original.kind == "none" or update.kind == "any":
            return
        if original.said.get("connect.type") == "bytes" == update.said.get("connect.type"):
            return
        self.add("TYPE_CHANGED")

    def _is_conversion(self, original: Node, update: Node) -> bool:
        """A schema and a combination of which it is one: taken, if it fits."""
        if update.kind == "combined":
            if len(update.subs) == 1:
                return self._takes(original, update.subs[0], "")
            return update.criterion != ALL and any(
                self._takes(original, each, "SUM_TYPE_EXTENDED") for each in update.subs
            )
        if original.kind == "combined":
            if len(original.subs) == 1:
                return self._takes(original.subs[0], update, "")
            return original.criterion == ALL and any(
                self._takes(each, update, "PRODUCT_TYPE_NARROWED") for each in original.subs
            )
        return False

    def _takes(self, original: Node, update: Node, type_: str) -> bool:
        found = self.compared(original, update)
        if not self.is_harmless(found):
            return False
        self.take(found)
        if type_:
            self.add(type_)
        return True


_ANNOTATIONS = {
    "$id": "ID_CHANGED", "title": "TITLE_CHANGED", "description": "DESCRIPTION_CHANGED", "default": "DEFAULT_CHANGED",
}  # fmt: skip


def _compare_negations(comparison: Comparison, original: Node, update: Node) -> None:
    """What is excluded may become less: compared the other way round."""
    with comparison.at("not"):
        found = comparison.compared(update.subs[0], original.subs[0])
        comparison.add("NOT_TYPE_NARROWED" if comparison.is_harmless(found) else "NOT_TYPE_EXTENDED")


def compare_combined(comparison: Comparison, original: Node, update: Node) -> None:
    olds, news = _distinct(original.subs), _distinct(update.subs)
    if not _compare_criteria(comparison, original, update):
        return
    if len(olds) < len(news):
        comparison.add("PRODUCT_TYPE_EXTENDED" if update.criterion == ALL else "SUM_TYPE_EXTENDED")
    elif len(olds) > len(news):
        comparison.add("PRODUCT_TYPE_NARROWED" if original.criterion == ALL else "SUM_TYPE_NARROWED")
    fits: list[dict[int, list[Difference]]] = []
    for index, old in enumerate(olds):
        with comparison.at(original.criterion, str(index)):
            pairs = {at: comparison.compared(old, new) for at, new in enumerate(news)}
            fits.append({at: found for at, found in pairs.items() if comparison.is_harmless(found)})
    matched = _matching([set(each) for each in fits])
    if len(matched) < min(len(olds), len(news)):
        comparison.add("COMBINED_TYPE_SUBSCHEMAS_CHANGED")
    for old_at, new_at in matched.items():
        comparison.take(fits[old_at][new_at])


def _compare_criteria(comparison: Comparison, original: Node, update: Node) -> bool:
    """False if nothing more is to be compared."""
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


def _distinct(nodes: list[Node]) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        if not any(
            node.kind == each.kind
            and node.is_integer == each.is_integer
            and node.said == each.said
            and node.criterion == each.criterion
            and _same_subs(node, each)
            for each in found
        ):
            found.append(node)
    return found


def _same_subs(one: Node, other: Node) -> bool:
    return len(one.subs) == len(other.subs) and all(
        mine.kind == its.kind and mine.said == its.said for mine, its in zip(one.subs, other.subs, strict=True)
    )


def _matching(choices: list[set[int]]) -> dict[int, int]:
    """As many pairs as can be, each side used once (augmenting paths)."""
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
    return {old: new for new, old in sorted(taken.items(), key=lambda each: each[1])}


Compare = Callable[[Comparison, Any, Any], None]
