"""Two JSON schemas side by side, each pair of their parts once, and where in them what was found lies."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from broker.registry.comparison_budget import ComparisonBudget
from broker.registry.json_schema.model import ALL, JsonSchemaNode
from broker.registry.schema import SchemaDifference

Pair = tuple[int, int]
Compare: TypeAlias = Callable[["JsonSchemaComparison", JsonSchemaNode, JsonSchemaNode], None]
#: Whether a pattern means a name of a property. Raises InvalidSchema where that takes too long.
Means: TypeAlias = Callable[[str, str], bool]
#: Steps of the budget for a pair that is compared, and for one whose result is known.
_PAIR_STEPS, _KNOWN_PAIR_STEPS = 4, 1

_ANNOTATIONS = {
    "$id": "ID_CHANGED", "title": "TITLE_CHANGED", "description": "DESCRIPTION_CHANGED", "default": "DEFAULT_CHANGED",
}  # fmt: skip


class JsonSchemaComparison:
    """Collect `differences` at the current path."""

    def __init__(
        self,
        by_kind: Mapping[str, Compare],
        harmless: frozenset[str],
        wrong: frozenset[Pair],
        means: Means,
        budget: ComparisonBudget,
    ):
        self.differences: list[SchemaDifference] = []
        self.has_assumed = False
        self.means = means
        self._by_kind = by_kind
        self._harmless = harmless
        self._wrong = wrong
        self._path: list[str] = []
        self._results: dict[Pair, list[SchemaDifference] | None] = {}
        self._budget = budget

    def incompatible_pairs(self) -> frozenset[Pair]:
        return frozenset(
            pair for pair, differences in self._results.items() if differences and not self.is_harmless(differences)
        )

    def is_harmless(self, differences: list[SchemaDifference]) -> bool:
        return all(difference.type in self._harmless for difference in differences)

    def add(self, type_: str, at: str = "") -> None:
        path = "/".join([*self._path, at] if at else self._path)
        self._budget.spend_bytes(len(type_) + len(path))
        self.differences.append(SchemaDifference(type_, path))

    def take(self, differences: list[SchemaDifference]) -> None:
        self.differences += differences

    @contextmanager
    def at(self, *path: str) -> Iterator[None]:
        self._path += path
        yield
        del self._path[len(self._path) - len(path) :]

    def apart(self, compare: Callable[[], None]) -> list[SchemaDifference]:
        """Return the differences that `compare` reports, without adding them."""
        before, self.differences = self.differences, []
        compare()
        differences, self.differences = self.differences, before
        return differences

    def compared(self, original: JsonSchemaNode | None, update: JsonSchemaNode | None) -> list[SchemaDifference]:
        return self.apart(lambda: self.compare(original, update))

    def compare(self, original: JsonSchemaNode | None, update: JsonSchemaNode | None) -> None:
        if original is None or update is None:
            if original is not update:
                self.add("SCHEMA_ADDED" if original is None else "SCHEMA_REMOVED")
            return
        pair = (id(original), id(update))
        if pair in self._results:
            self._budget.spend_steps(_KNOWN_PAIR_STEPS)
            known = self._results[pair]
            if known is None:
                self.has_assumed = True
                known = [SchemaDifference("TYPE_CHANGED", "")] if pair in self._wrong else []
        else:
            self._budget.spend_steps(_PAIR_STEPS)
            self._results[pair] = None
            path, self._path = self._path, []
            known = self.apart(lambda: self._compare(original, update))
            self._path = path
            self._results[pair] = known
        prefix = "/".join(self._path)
        for type_, at in known:
            self._budget.spend_bytes(len(type_) + len(prefix) + len(at))
            self.differences.append(SchemaDifference(type_, "/".join(filter(None, (prefix, at)))))

    def _compare(self, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
        if original.kind != update.kind:
            if not self._is_conversion(original, update):
                self._of_other_kind(original, update)
            return
        for name, type_ in _ANNOTATIONS.items():
            if original.keywords.get(name) != update.keywords.get(name):
                self.add(type_)
        if (compare_kind := self._by_kind.get(original.kind)) is not None:
            compare_kind(self, original, update)

    def _of_other_kind(self, original: JsonSchemaNode, update: JsonSchemaNode) -> None:
        if original.kind == "none" or update.kind == "any":
            return
        if original.keywords.get("connect.type") == "bytes" == update.keywords.get("connect.type"):
            return
        self.add("TYPE_CHANGED")

    def _is_conversion(self, original: JsonSchemaNode, update: JsonSchemaNode) -> bool:
        """Compare a schema with a combination that contains it, or the reverse; return whether it fits."""
        if update.kind == "combined":
            if len(update.subs) == 1:
                return self._takes(original, update.subs[0], "")
            return update.criterion != ALL and any(
                self._takes(original, sub, "SUM_TYPE_EXTENDED") for sub in update.subs
            )
        if original.kind == "combined":
            if len(original.subs) == 1:
                return self._takes(original.subs[0], update, "")
            return original.criterion == ALL and any(
                self._takes(sub, update, "PRODUCT_TYPE_NARROWED") for sub in original.subs
            )
        return False

    def _takes(self, original: JsonSchemaNode, update: JsonSchemaNode, type_: str) -> bool:
        differences = self.compared(original, update)
        if not self.is_harmless(differences):
            return False
        self.take(differences)
        if type_:
            self.add(type_)
        return True
