"""Patterns of JSON schemas are Java's: what is registered, and which documents fit."""

import json

import pytest

from broker.registry.errors import InvalidSchema
from broker.registry.json_schema.java_patterns import java_validator
from broker.registry.json_schema.schema import parse


def registered(schema: dict) -> None:
    parse(json.dumps(schema), (), is_new=True)


def fits(schema: dict, document: object) -> bool:
    return bool(java_validator(schema)(schema).is_valid(document))


@pytest.mark.parametrize(
    "pattern",
    [r"^\p{L}+$", r"(?<year>\d{4})", r"\cA", "abc(?i)d", r"^a\z", r"\Qa\E", "[a-z&&[^b]]", "(?<=a+)b", r"\R{2}"],
)
def test_patterns_of_java_are_registered(pattern):
    registered({"type": "string", "pattern": pattern})
    registered({"$schema": "https://json-schema.org/draft/2020-12/schema", "patternProperties": {pattern: {}}})


@pytest.mark.parametrize("pattern", ["(", "a**", "[a", r"\y", "a{2,1}", "(?P<year>a)"])
def test_what_java_cannot_read_is_refused(pattern):
    with pytest.raises(InvalidSchema, match="is not a 'regex'"):
        registered({"type": "string", "pattern": pattern})


@pytest.mark.parametrize(
    ("pattern", "text", "does_fit"),
    [
        (r"^\p{L}+$", "Ünder", True),
        (r"^\p{L}+$", "a1", False),
        (r"^\d$", "٣", False),
        (r"\w", "é", False),
        ("^a$", "a\n", True),
        (r"^a\z", "a\n", False),
        ("b", "abc", True),
        ("(?<=a+)b", "nothing of it is known here", True),
    ],
)
def test_a_document_fits_if_java_finds_the_pattern(pattern, text, does_fit):
    assert fits({"pattern": pattern}, text) is does_fit
    assert fits({"patternProperties": {pattern: False}}, {text: 1}) is not does_fit
    assert fits({"patternProperties": {pattern: True}, "additionalProperties": False}, {text: 1}) is does_fit


def test_additional_properties_are_those_that_no_name_and_no_pattern_has():
    schema = {"properties": {"a": {}}, "patternProperties": {r"^\p{Lu}$": {}}, "additionalProperties": {"type": "null"}}
    assert fits(schema, {"a": 1, "B": 1, "c": None})
    assert not fits(schema, {"c": 1})
    assert fits(schema, [1])
