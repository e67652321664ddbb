"""Fields of documents: their paths, share, types and examples, and an end to all of it."""

import json

from console.cluster.contents.fields import ELEMENTS_MAX, PATHS_MAX, Fields
from console.cluster.records.columns import parse_document
from console.cluster.records.masking import MASK


def fields_of(*documents: object) -> Fields:
    fields = Fields()
    for document in documents:
        fields.add(parse_document(json.dumps(document)))
    return fields


def test_a_field_has_its_share_types_and_the_first_example():
    fields = fields_of({"id": 7, "to": {"city": "Bern"}}, {"id": "x", "to": {"city": None}}, {"id": 1.5})
    result = dict(fields.by_path())
    assert fields.documents == 3
    assert list(result) == ["id", "to", "to.city"]
    assert (result["id"].count, dict(result["id"].types)) == (3, {"integer": 1, "string": 1, "number": 1})
    assert (result["to.city"].count, dict(result["to.city"].types)) == (2, {"string": 1, "null": 1})
    assert (result["id"].example, result["to.city"].example, result["to"].example) == ("7", "Bern", "")


def test_elements_of_a_list_are_one_field_which_a_document_has_once():
    result = dict(fields_of({"items": [{"sku": "a"}, {"sku": 2}]}).by_path())
    assert result["items[].sku"].count == 1
    assert dict(result["items[].sku"].types) == {"string": 1, "integer": 1}


def test_what_is_hidden_is_called_that():
    assert dict(dict(fields_of({"card": MASK}).by_path())["card"].types) == {"hidden": 1}


def test_documents_that_are_too_wide_long_or_deep_end_within_bounds_and_are_counted():
    deep: object = 1
    for _ in range(500):
        deep = {"in": deep}
    wide = {f"name-{number}": {"x": number} for number in range(10_000)}
    fields = fields_of(deep, wide, [list(range(5)) for _ in range(ELEMENTS_MAX + 1)], {"n" * 5_000: 1})
    assert (fields.documents, fields.left_out) == (4, 4)
    for number in range(2 * PATHS_MAX):
        fields.add({f"other-{number}": "1"})
    assert len(list(fields.by_path())) == PATHS_MAX
