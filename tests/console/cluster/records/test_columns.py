"""Columns picked from records by paths: what is a path, what stands there, which are offered."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.cluster.records.columns import (
    CELL_LENGTH_MAX,
    COLUMNS_MAX,
    OFFERED_MAX,
    cell_at,
    offered_paths,
    parse_columns,
    parse_document,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def cell(document: str, path: str) -> str:
    (column,) = parse_columns([path])
    return cell_at(parse_document(document), column.steps)


@pytest.mark.parametrize(
    ("path", "part", "steps"),
    [
        ("value.order.id", "value", ("order", "id")),
        ("key.region", "key", ("region",)),
        ("headers.trace-id", "headers", ("trace-id",)),
        ("value.items[0].sku", "value", ("items", 0, "sku")),
        ("value[2]", "value", (2,)),
        ("amount", "value", ("amount",)),
        ("[1].a", "value", (1, "a")),
        ("values", "value", ("values",)),
    ],
)
def test_a_path_leads_down_from_a_part_of_the_record(path, part, steps):
    (column,) = parse_columns([path])
    assert (column.part, column.steps) == (part, steps)


@pytest.mark.parametrize(
    "path", ["", " ", "value", "key", "value.", "value..a", "value[x]", "value[1", "a\nb", "x" * 201]
)
def test_what_is_no_path_is_no_column(path):
    assert parse_columns([path]) == ()


def test_columns_are_few_and_each_once():
    assert len(parse_columns([f"value.f{number}" for number in range(50)])) == COLUMNS_MAX
    assert len(parse_columns(["a", "value.a", " a "])) == 1


@pytest.mark.parametrize(
    ("document", "path", "shown"),
    [
        ('{"amount": 1.10}', "amount", "1.10"),
        ('{"id": 12345678901234567890123}', "id", "12345678901234567890123"),
        ('{"a": 1e400}', "a", "1e400"),
        ('{"a": null}', "a", "null"),
        ('{"a": true}', "a", "true"),
        ('{"a": "text"}', "a", "text"),
        ('{"a": "1\\n2"}', "a", "1 2"),
        ('{"a": [1, {"b": "c"}]}', "a", '[1, {"b": "c"}]'),
        ('{"a": {}, "b": []}', "a", "{}"),
        ('{"a": [[], 0.50]}', "a", "[[], 0.50]"),
        ('[{"a": 1}, {"a": 2}]', "[1].a", "2"),
        ('{"a": 1}', "b", ""),
        ('{"a": 1}', "a.b", ""),
        ('{"a": [1]}', "a[7]", ""),
        ("no json", "a", ""),
    ],
)
def test_a_cell_shows_what_stands_there_as_it_is_written(document, path, shown):
    assert cell(document, path) == shown


def test_a_cell_is_short_whatever_stands_there():
    deep = "[" * 500 + "]" * 500
    for inner in ('"' + "x" * 10_000 + '"', json.dumps(list(range(10_000))), deep):
        assert len(cell(f'{{"a": {inner}}}', "a")) <= CELL_LENGTH_MAX + 1


def test_paths_most_records_have_are_offered_first():
    documents = [("value", parse_document(text)) for text in ('{"id": 1, "a": {"b": 1}}', '{"id": 2}', "[1]", "7")]
    assert offered_paths([*documents, ("headers", {"trace": "x"})]) == ["value.id", "headers.trace", "value.a.b"]


def test_names_no_path_can_name_are_not_offered():
    assert offered_paths([("value", {"a.b": 1, "c[0]": 2, "": 3, "d\n": 4, "e": 5})]) == ["value.e"]


@given(st.lists(JSON, max_size=5))
def test_whatever_is_offered_is_a_path_to_something(documents):
    read = [parse_document(json.dumps(document)) for document in documents]
    offered = offered_paths([("value", item) for item in read])
    assert len(offered) <= OFFERED_MAX
    for column in parse_columns(offered[:COLUMNS_MAX]):
        assert column.text in offered
        for item in read:
            cell_at(item, column.steps)
