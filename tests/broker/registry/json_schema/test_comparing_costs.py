"""Comparing JSON schemas costs what they are long; what multiplies is refused."""

import json

import pytest

from broker.registry.errors import InvalidSchema
from broker.registry.json_schema.schema import parse


def incompatibilities(reader: dict, writer: dict) -> list[str]:
    return _parsed(reader).incompatibilities(_parsed(writer), lenient=False)


def _parsed(schema: dict):
    return parse(json.dumps(schema), (), is_new=False)


def test_values_of_enums_are_the_same_if_they_are_equal():
    schema = {"enum": [1, "a", [1, {"x": None}], {"y": [True]}]}
    assert incompatibilities(schema, {"enum": [{"y": [True]}, 1.0, "a", [1, {"x": None}]]}) == []
    assert incompatibilities(schema, {"enum": [1, "a", [1, {"x": 0}], {"y": [True]}]}) != []


def test_the_same_alternative_twice_counts_once():
    one = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert incompatibilities(one, {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "string"}]}) == []


def multiplied(levels: int, leaf: str) -> dict:
    """Each level refers to the next one twice."""
    definitions = {
        f"l{index}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/definitions/l{index + 1}"} for name in ("a", "b")},
        }
        for index in range(levels)
    }
    definitions[f"l{levels}"] = {"type": leaf}
    return {"definitions": definitions, "$ref": "#/definitions/l0"}


def test_what_differs_on_many_levels_twice_each_is_refused():
    with pytest.raises(InvalidSchema, match="takes too long"):
        incompatibilities(multiplied(40, "string"), multiplied(40, "integer"))


def test_what_differs_below_a_very_long_name_is_refused():
    def schema(prefix: str) -> dict:
        inner = {f"{prefix}{index}": {"type": "string"} for index in range(5_000)}
        return {"type": "object", "properties": {"x" * 100_000: {"type": "object", "properties": inner}}}

    with pytest.raises(InvalidSchema, match="takes too long"):
        incompatibilities(schema("a"), schema("b"))


DRAFT_4 = "http://json-schema.org/draft-04/schema#"
LONG_LISTS = {
    "an enum of strings and numbers": {"$schema": DRAFT_4, "enum": [v for n in range(30_000) for v in (n, f"a{n}")]},
    "an enum of objects": {"$schema": DRAFT_4, "enum": [{"a": n} for n in range(30_000)]},
    "names that are none": {"dependencies": {"a": [v for n in range(30_000) for v in (n, f"a{n}")]}},
}


@pytest.mark.parametrize("name", LONG_LISTS)
def test_a_list_whose_values_have_to_be_compared_each_with_each_is_refused(name):
    with pytest.raises(InvalidSchema, match="too many values of different kinds"):
        parse(json.dumps(LONG_LISTS[name]), (), is_new=True)


def test_a_stored_schema_of_such_a_list_is_read_without_the_check():
    schema = LONG_LISTS["an enum of objects"]
    assert parse(json.dumps(schema), (), is_new=False).raw == schema


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_4, "enum": [f"value {n}" for n in range(30_000)]},
        {"$schema": DRAFT_4, "enum": list(range(30_000))},
        {"oneOf": [{"const": n} for n in range(3_000)]},
    ],
)
def test_a_long_list_of_strings_numbers_or_some_schemas_is_taken(schema):
    assert parse(json.dumps(schema), (), is_new=True).raw == schema
