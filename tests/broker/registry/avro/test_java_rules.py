"""What Avro's Java parser of 1.12 takes and refuses: defaults, comments, aliases, names."""

import json

import pytest

from broker.registry.errors import InvalidSchema
from broker.registry.kinds import parse
from broker.registry.records import SchemaKey


def field(type_, **more):
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": "f", "type": type_, **more}]})


@pytest.mark.parametrize(
    ("type_", "default", "printed"),
    [
        (["string", "null"], None, None),
        (["int", "string", {"type": "array", "items": "long"}], [1], [1]),
        (["null", "double"], 1.5, 1.5),
        ("double", "NaN", "NaN"),
        ("float", "NaN", "NaN"),
        ("double", "-Infinity", "-Infinity"),
        ("double", " 1.5 ", 1.5),
        ("float", "1e3f", 1000.0),
    ],
)
def test_a_default_that_java_takes_is_taken(type_, default, printed):
    """Schema-registry #707, and Avro 1.12: any branch of a union, and texts for float and double."""
    canonical = parse("AVRO", field(type_, default=default), ()).canonical
    assert json.loads(canonical)["fields"][0]["default"] == printed
    assert parse("AVRO", canonical, ()).canonical == canonical
    parse("AVRO", canonical, ()).require_valid()


@pytest.mark.parametrize(
    ("type_", "default"),
    [(["null", "double"], "NaN"), ({"type": "array", "items": "double"}, ["NaN"]), ("int", "1"), (["int"], "x")],
)
def test_a_default_that_java_refuses_is_refused_in_new_schemas(type_, default):
    with pytest.raises(InvalidSchema, match="Invalid default"):
        parse("AVRO", field(type_, default=default), ()).require_valid()
    assert parse("AVRO", field(type_, default=default), (), is_new=False).canonical


def test_a_text_that_is_no_number_is_no_default_of_a_double():
    with pytest.raises(InvalidSchema, match="no number"):
        parse("AVRO", field("double", default="x"), ())


def test_defaults_of_unions_within_unions_are_checked_in_bounded_steps():
    """Each level has two branches that both fit but for what is in the innermost one."""
    type_ = ["null", "int"]
    for level in range(24):
        branches = [
            {"type": "record", "name": f"{name}{level}", "fields": [{"name": "f", "type": type_}]} for name in "AB"
        ]
        branches[1]["fields"][0]["type"] = [branch["name"] if isinstance(branch, dict) else branch for branch in type_]
        type_ = branches
    value = "x"
    for _ in range(24):
        value = {"f": value}
    with pytest.raises(InvalidSchema, match="too long"):
        parse("AVRO", field(type_, default=value), ()).require_valid()
    assert parse("AVRO", field(type_, default=value), (), is_new=False).canonical


COMMENTED = """/* Confluent's own
 "files" */ {"type": "record", // of a kind
 "name": "R", "doc": "no // comment, /* none */", "fields": [/**/{"name": "a\\u002f", "type": "int"}]} // end"""


def test_comments_are_passed_over_and_texts_that_look_like_them_kept():
    tree = json.loads(parse("AVRO", COMMENTED.replace("\\u002f", ""), ()).canonical)
    assert (tree["doc"], tree["fields"][0]["name"]) == ("no // comment, /* none */", "a")
    for text in ('{"type": "int" / 2}', '"int" /', '{"type": "int"', '"//'):
        with pytest.raises(InvalidSchema):
            parse("AVRO", text, ())


def test_an_alias_is_stored_once():
    schema = {"type": "record", "name": "R", "namespace": "n", "aliases": ["A", "n.A", "B", "A"],
              "fields": [{"name": "f", "type": "int", "aliases": ["g", "h", "g"]}]}  # fmt: skip
    tree = json.loads(parse("AVRO", json.dumps(schema), ()).canonical)
    assert (tree["aliases"], tree["fields"][0]["aliases"]) == (["A", "B"], ["g", "h"])


def test_names_that_avro_does_not_allow_are_refused_in_new_schemas_only():
    text = json.dumps({"type": "record", "name": "R-1", "namespace": "a.b-c", "fields": []})
    assert parse("AVRO", text, (), is_new=False).canonical
    with pytest.raises(InvalidSchema, match="Illegal character in: R-1"):
        parse("AVRO", text, ()).require_valid()


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        ("1e10", "1.0E10"),
        ("0.0001", "1.0E-4"),
        ("1e21", "1.0E21"),
        ("12345678.9", "1.23456789E7"),
        ("9999999.0", "9999999.0"),
    ],
)
def test_numbers_are_printed_as_java_prints_them(number, printed):
    text = f'{{"type":"double","p":[{{"a":{number}}}]}}'
    assert parse("AVRO", text, ()).canonical == f'{{"type":"double","p":[{{"a":{printed}}}]}}'


async def test_a_schema_whose_numbers_were_printed_otherwise_is_not_registered_again(registry):
    record = field("double", default=1e10).replace(" ", "")
    stored = registry.registry.store
    value = {"subject": "s", "version": 1, "id": 1, "schema": record.replace("1E", "1e")}
    assert stored.apply(SchemaKey("s", 1), value) == ""
    assert "1.0E10" in parse("AVRO", record, ()).canonical
    assert (await registry.register("s", record)).body["version"] == 1
    assert (await registry.ask("POST", "/subjects/s", {"schema": record})).body["version"] == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"type": {"type": "int"}},
        {"type": ["null", "int"]},
        {"type": "record", "name": "R", "fields": [], "aliases": None},
        {"type": "enum", "name": "a..b", "symbols": []},
        {
            "type": "record",
            "name": "R",
            "fields": [
                {
                    "name": "f",
                    "type": {"type": "record", "name": "S", "namespace": "n", "fields": [{"name": "g", "type": "R"}]},
                }
            ],
        },
    ],
)
def test_what_java_refuses_is_refused_in_new_schemas_only(schema):
    """`["null", …]` as a type of an object, empty parts of a namespace, and so on."""
    text = json.dumps(schema)
    assert parse("AVRO", text, (), is_new=False).canonical
    with pytest.raises(InvalidSchema):
        parse("AVRO", text, ()).require_valid()


def test_names_of_primitives_are_written_in_full():
    fields = '[{"name":"f","type":"a.string"}]'
    text = f'{{"type":"record","name":"string","namespace":"a","fields":{fields},"aliases":["a.int"]}}'
    assert parse("AVRO", text, ()).canonical == text


def test_an_alias_that_is_the_name_of_a_type_is_written_in_full():
    text = json.dumps({"type": "fixed", "size": 1, "name": "x", "namespace": "n", "aliases": ["record", "y", "int"]})
    canonical = parse("AVRO", text, ()).canonical
    assert json.loads(canonical)["aliases"] == ["n.record", "y", "n.int"]
    assert parse("AVRO", canonical, ()).canonical == canonical


def test_a_name_behind_a_dot_is_nobodys_in_new_schemas():
    text = json.dumps({"type": "record", "name": "a0", "fields": [{"name": "x", "type": ["null", ".a0"]}]})
    with pytest.raises(InvalidSchema, match=r"Undefined schema: \.a0"):
        parse("AVRO", text, ()).require_valid()
    assert parse("AVRO", text, (), is_new=False).canonical
