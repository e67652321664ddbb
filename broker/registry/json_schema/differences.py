"""What changed from one JSON schema to another, and whether everything that was valid still is."""

from collections.abc import Mapping

from broker.registry.comparison_budget import ComparisonBudget
from broker.registry.json_schema.arrays import compare_arrays
from broker.registry.json_schema.combined import compare_combined, compare_negations
from broker.registry.json_schema.comparison import Compare, JsonSchemaComparison, Means, Pair
from broker.registry.json_schema.difference import COMPATIBLE, LENIENT
from broker.registry.json_schema.model import JsonSchemaNode
from broker.registry.json_schema.objects import compare_objects
from broker.registry.json_schema.values import compare_consts, compare_enums, compare_numbers, compare_strings
from broker.registry.schema import SchemaDifference

#: Of two schemas of the same kind; others have nothing to compare.
_BY_KIND: Mapping[str, Compare] = {
    "string": compare_strings,
    "number": compare_numbers,
    "enum": compare_enums,
    "const": compare_consts,
    "object": compare_objects,
    "array": compare_arrays,
    "combined": compare_combined,
    "not": compare_negations,
}


def differences(
    original: JsonSchemaNode, update: JsonSchemaNode, means: Means, *, lenient: bool = False
) -> list[SchemaDifference]:
    """Return the differences of two schemas. Raises InvalidSchema if comparing takes too long.

    A pair that contains itself counts as compatible while it is compared. What was concluded from that may be wrong if
    the pair turns out not to be: so it is done again, with all such pairs known, until nothing new comes of it.
    """
    harmless = LENIENT if lenient else COMPATIBLE
    wrong: frozenset[Pair] = frozenset()
    budget = ComparisonBudget()
    while True:
        comparison = JsonSchemaComparison(_BY_KIND, harmless, wrong, means, budget)
        comparison.compare(original, update)
        pairs = comparison.incompatible_pairs()
        if not comparison.has_assumed or pairs == wrong:
            return comparison.differences
        wrong = pairs
