"""What each change of a JSON schema is called, and whether what was valid before still is: a row each."""

import json
from contextlib import closing

import pytest

from broker.registry.errors import InvalidSchema
from broker.registry.json_schema.difference import COMPATIBLE
from broker.registry.json_schema.differences import differences
from broker.registry.json_schema.names import Names
from broker.registry.json_schema.schema import parse
from broker.registry.schema import Content, NamedSchema

TEXT, INT, NUMBER, EMPTY = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {}


def thing(closed=False, rest=None, required=(), **properties):
    schema = {"type": "object", "properties": properties}
    schema |= {"required": list(required)} if required else {}
    schema |= {"additionalProperties": False} if closed else {}
    return schema | ({"additionalProperties": rest} if rest is not None else {})


def items(*schemas, rest=None):
    return {"type": "array", "items": list(schemas)} | ({"additionalItems": rest} if rest is not None else {})


def any_of(*schemas):
    return {"anyOf": list(schemas)}


def one_of(*schemas):
    return {"oneOf": list(schemas)}


def all_of(*schemas):
    return {"allOf": list(schemas)}


#: before, after, whether that is harmless, and one of the changes that are found (none: nothing is).
ROWS = [
    # words about it
    ({"title": "a"}, {"title": "b"}, True, "TITLE_CHANGED"),
    ({"description": "a"}, {}, True, "DESCRIPTION_CHANGED"),
    (TEXT | {"default": "a"}, TEXT, True, "DEFAULT_CHANGED"),
    # types
    (TEXT, EMPTY, True, None),
    (EMPTY, TEXT, False, "TYPE_CHANGED"),
    (False, TEXT, True, None),
    (INT, NUMBER, True, "TYPE_EXTENDED"),
    (NUMBER, INT, False, "TYPE_NARROWED"),
    (TEXT, INT, False, "TYPE_CHANGED"),
    (TEXT, {"type": ["string", "null"]}, True, "SUM_TYPE_EXTENDED"),
    ({"type": ["string", "null"]}, TEXT, False, "TYPE_CHANGED"),
    ({"type": ["string", "null"]}, {"type": ["null", "string", "integer"]}, True, "SUM_TYPE_EXTENDED"),
    (TEXT | {"connect.type": "bytes"}, NUMBER | {"connect.type": "bytes"}, True, None),
    # bounds
    *(
        (kind | ({keyword: old} if old else {}), kind | ({keyword: new} if new else {}), good, name)
        for kind, keyword, label, upper in (
            (TEXT, "maxLength", "MAX_LENGTH", True), (TEXT, "minLength", "MIN_LENGTH", False),
            (NUMBER, "maximum", "MAXIMUM", True), (NUMBER, "minimum", "MINIMUM", False),
            (NUMBER, "exclusiveMaximum", "EXCLUSIVE_MAXIMUM", True),
            (NUMBER, "exclusiveMinimum", "EXCLUSIVE_MINIMUM", False),
            ({"type": "array"}, "maxItems", "MAX_ITEMS", True), ({"type": "array"}, "minItems", "MIN_ITEMS", False),
            ({"type": "object"}, "maxProperties", "MAX_PROPERTIES", True),
            ({"type": "object"}, "minProperties", "MIN_PROPERTIES", False),
        )
        for old, new, good, name in (
            (None, 5, False, f"{label}_ADDED"), (5, None, True, f"{label}_REMOVED"),
            (5, 6, upper, f"{label}_INCREASED"), (6, 5, not upper, f"{label}_DECREASED"),
        )
    ),
    (TEXT | {"pattern": "a"}, TEXT, True, "PATTERN_REMOVED"),
    (TEXT, TEXT | {"pattern": "a"}, False, "PATTERN_ADDED"),
    (TEXT | {"pattern": "a"}, TEXT | {"pattern": "b"}, False, "PATTERN_CHANGED"),
    (NUMBER | {"multipleOf": 4}, NUMBER | {"multipleOf": 2}, True, "MULTIPLE_OF_REDUCED"),
    (NUMBER | {"multipleOf": 2}, NUMBER | {"multipleOf": 4}, False, "MULTIPLE_OF_EXPANDED"),
    (NUMBER | {"multipleOf": 2}, NUMBER | {"multipleOf": 3}, False, "MULTIPLE_OF_CHANGED"),
    (NUMBER | {"multipleOf": 2}, NUMBER, True, "MULTIPLE_OF_REMOVED"),
    ({"type": "array", "uniqueItems": True}, {"type": "array"}, True, "UNIQUE_ITEMS_REMOVED"),
    ({"type": "array"}, {"type": "array", "uniqueItems": True}, False, "UNIQUE_ITEMS_ADDED"),
    # enums
    ({"enum": [1, 2]}, {"enum": [1, 2, 3]}, True, "ENUM_ARRAY_EXTENDED"),
    ({"enum": [1, 2]}, {"enum": [1]}, False, "ENUM_ARRAY_NARROWED"),
    ({"enum": [1, 2]}, {"enum": [1, 3]}, False, "ENUM_ARRAY_CHANGED"),
    ({"const": 1}, {"const": 2}, False, "ENUM_ARRAY_CHANGED"),
    # properties that come
    (thing(), thing(a=TEXT), False, "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"),
    (thing(), thing(a=EMPTY), True, "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL"),
    (thing(closed=True), thing(closed=True, a=TEXT), True, "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"),
    (thing(closed=True), thing(closed=True, required=["a"], a=TEXT), False,
     "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"),
    (thing(closed=True), thing(closed=True, required=["a"], a=TEXT | {"default": ""}), True,
     "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL"),
    (thing(rest=TEXT), thing(rest=TEXT, a=TEXT), True, "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"),
    (thing(rest=TEXT), thing(rest=TEXT, a=INT), False, "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"),
    # properties that go
    (thing(a=TEXT), thing(), True, "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL"),
    (thing(closed=True, a=TEXT), thing(closed=True), False, "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"),
    (thing(closed=True, a=False), thing(closed=True), True, "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL"),
    (thing(rest=TEXT, a=TEXT), thing(rest=TEXT), True,
     "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"),
    (thing(rest=INT, a=TEXT), thing(rest=INT), False,
     "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"),
    # required
    (thing(a=TEXT), thing(a=TEXT, required=["a"]), False, "REQUIRED_ATTRIBUTE_ADDED"),
    (thing(a=TEXT), thing(a=TEXT | {"default": ""}, required=["a"]), True, "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED"),
    (thing(a=TEXT, required=["a"]), thing(a=TEXT), True, "REQUIRED_ATTRIBUTE_REMOVED"),
    # the rest
    (thing(closed=True), thing(), True, "ADDITIONAL_PROPERTIES_ADDED"),
    (thing(), thing(closed=True), False, "ADDITIONAL_PROPERTIES_REMOVED"),
    (thing(), thing(rest=TEXT), False, "ADDITIONAL_PROPERTIES_NARROWED"),
    (thing(rest=TEXT), thing(), True, "ADDITIONAL_PROPERTIES_EXTENDED"),
    # dependencies
    ({"dependencies": {"a": ["b"]}}, {"dependencies": {}}, True, "DEPENDENCY_ARRAY_REMOVED"),
    ({"dependencies": {"a": ["b", "c"]}}, {"dependencies": {"a": ["b"]}}, True, "DEPENDENCY_ARRAY_NARROWED"),
    ({"dependencies": {"a": ["b"]}}, {"dependencies": {"a": ["b", "c"]}}, False, "DEPENDENCY_ARRAY_EXTENDED"),
    ({"dependencies": {"a": ["b"]}}, {"dependencies": {"a": ["c"]}}, False, "DEPENDENCY_ARRAY_CHANGED"),
    ({"dependencies": {}}, {"dependencies": {"a": thing()}}, False, "DEPENDENCY_SCHEMA_ADDED"),
    # items
    ({"type": "array", "items": INT}, {"type": "array", "items": NUMBER}, True, "TYPE_EXTENDED"),
    ({"type": "array"}, {"type": "array", "items": INT}, False, "SCHEMA_ADDED"),
    ({"type": "array", "items": INT}, {"type": "array"}, True, "SCHEMA_REMOVED"),
    (items(TEXT), items(TEXT, INT), False, "ITEM_ADDED_TO_OPEN_CONTENT_MODEL"),
    (items(TEXT), items(TEXT, EMPTY), True, "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL"),
    (items(TEXT, rest=False), items(TEXT, INT, rest=False), True, "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL"),
    (items(TEXT, INT), items(TEXT), True, "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL"),
    (items(TEXT, INT, rest=False), items(TEXT, rest=False), False, "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"),
    (items(TEXT, rest=INT), items(TEXT, TEXT, rest=INT), False,
     "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"),
    (items(TEXT, rest=False), items(TEXT), True, "ADDITIONAL_ITEMS_ADDED"),
    # combinations
    (one_of(TEXT, INT), one_of(TEXT, INT, {"type": "null"}), True, "SUM_TYPE_EXTENDED"),
    (one_of(TEXT, INT), one_of(TEXT, {"type": "null"}), False, "COMBINED_TYPE_SUBSCHEMAS_CHANGED"),
    (one_of(TEXT, INT, {"type": "null"}), one_of(TEXT, INT), False, "SUM_TYPE_NARROWED"),
    (one_of(TEXT, INT), one_of(NUMBER, TEXT), True, "TYPE_EXTENDED"),
    (one_of(TEXT, INT), any_of(TEXT, INT), True, "COMBINED_TYPE_EXTENDED"),
    (any_of(TEXT, INT), one_of(TEXT, INT), False, "COMBINED_TYPE_CHANGED"),
    (any_of(TEXT, INT), all_of(TEXT, INT), False, "COMBINED_TYPE_CHANGED"),
    (all_of(TEXT, {"minLength": 1}), all_of(TEXT), True, "PRODUCT_TYPE_NARROWED"),
    (all_of(TEXT), all_of(TEXT, {"minLength": 1}), False, "PRODUCT_TYPE_EXTENDED"),
    (TEXT, one_of(TEXT), True, None),
    ({"not": NUMBER}, {"not": INT}, True, "NOT_TYPE_NARROWED"),
    ({"not": INT}, {"not": NUMBER}, False, "NOT_TYPE_EXTENDED"),
]  # fmt: skip


def found_between(before, after, **options):
    with closing(Names()) as names:
        return differences(root(before), root(after), names.has, **options)


def root(schema):
    return parse(json.dumps(schema), (), is_new=True).model.root


@pytest.mark.parametrize(("before", "after", "is_harmless", "name"), ROWS)
def test_a_change_has_its_name_and_verdict(before, after, is_harmless, name):
    result = found_between(before, after)
    assert (name is None and not result) or name in {item.type for item in result}, result
    assert all(item.type in COMPATIBLE for item in result) is is_harmless, result


@pytest.mark.parametrize("schema", [row[0] for row in ROWS])
def test_what_stays_as_it_is_has_no_changes_that_harm(schema):
    assert all(item.type in COMPATIBLE for item in found_between(schema, schema))


def test_lenient_lets_properties_come_and_go():
    before = parse(json.dumps(thing(a=TEXT)), (), is_new=True)
    after = parse(json.dumps(thing(a=TEXT, b=TEXT)), (), is_new=True)
    assert after.incompatibilities(before, lenient=False)
    assert not after.incompatibilities(before, lenient=True)


def test_a_schema_that_contains_itself_is_compared():
    def tree(value):
        return {"type": "object", "properties": {"value": value, "next": {"$ref": "#"}}, "additionalProperties": False}

    assert all(item.type in COMPATIBLE for item in found_between(tree(INT), tree(NUMBER)))
    assert not all(item.type in COMPATIBLE for item in found_between(tree(NUMBER), tree(INT)))


def test_references_are_looked_into():
    def holder(kind):
        named = NamedSchema("a.json", Content("JSON", json.dumps(kind)), "a", 1)
        return parse('{"type":"object","properties":{"a":{"$ref":"a.json"}}}', (named,), is_new=True)

    assert holder(NUMBER).incompatibilities(holder(INT), lenient=False) == []
    assert holder(INT).incompatibilities(holder(NUMBER), lenient=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "object"),
        ("{", "no JSON"),
        ('{"type":"text"}', "type"),
        ('{"properties":{"a":{"$ref":"http://example.org/a.json"}}}', "leads nowhere"),
        ('{"properties":{"a":{"$ref":"#/definitions/none"}}}', "leads nowhere"),
        ('{"not":' * 300 + "{}" + "}" * 300, "deep"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_reason(text, message):
    with pytest.raises(InvalidSchema, match=message):
        parse(text, (), is_new=True)


def test_a_schema_made_to_take_for_ever_is_refused():
    """Combinations of combinations that differ at every level, below which everything is compared with everything."""

    def deep(level, at):
        if not level:
            return {"type": "string", "maxLength": at}
        return {"type": "object", "properties": {"p": any_of(*(deep(level - 1, at * 8 + index) for index in range(8)))}}

    one, other = deep(4, 1), deep(4, 3)
    with pytest.raises(InvalidSchema, match="too long"):
        found_between(one, other)


def test_order_of_members_counts_until_it_is_normalized():
    one, other = ('{"type":"string","title":"a"}', '{"title":"a","type":"string"}')
    parsed = [parse(item, (), is_new=True) for item in (one, other)]
    assert parsed[0].canonical != parsed[1].canonical
    assert parsed[0].normalized() == parsed[1].normalized()


EVIL, NAME = "^(a+)+$", "a" * 60 + "!"


def test_a_pattern_that_would_match_for_years_is_refused():
    after = {"type": "object", "patternProperties": {EVIL: TEXT}, "additionalProperties": False}
    with pytest.raises(InvalidSchema, match="too many ways to match"):
        found_between(thing(closed=True, **{NAME: TEXT}), after)


def test_all_patterns_of_a_comparison_have_their_seconds_together():
    with closing(Names(seconds=5.0)) as names:
        assert names.has("^a+$", "aaa")
        assert not names.has("^a+$", "b")
    with closing(Names(seconds=0.05)) as names:
        for name in (NAME, "b"):
            with pytest.raises(InvalidSchema, match="too many ways to match"):
                names.has(EVIL, name)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(" * 5_000 + ")" * 5_000])
def test_a_pattern_that_cannot_be_read_means_no_name_and_the_next_is_asked(pattern):
    with closing(Names()) as names:
        assert not names.has(pattern, "a\nb")
        assert names.has("^a$|b$", "a\nb")
