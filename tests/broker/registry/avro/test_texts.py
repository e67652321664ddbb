"""What is one and the same Avro schema, and what is none at all."""

import json

import pytest
from fastavro import parse_schema

from broker.registry.avro.parsing import parse
from broker.registry.avro.printing import canonical, normalized
from broker.registry.errors import InvalidSchema


def printed(text):
    return canonical(parse(text)[0])


def test_order_of_attributes_and_blanks_do_not_count():
    one = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
    other = '{ "fields": [ {"type": {"type": "int"}, "name": "a"} ], "name": "R", "type": "record" }'
    assert printed(one) == printed(other) == one


def test_a_namespace_in_the_name_is_the_same_as_one_beside_it():
    assert printed('{"type":"fixed","name":"a.b.F","size":1}') == printed(
        '{"type":"fixed","name":"F","namespace":"a.b","size":1}'
    )


def test_doc_defaults_and_properties_count():
    plain = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
    for more in ('"doc":"d"', '"default":1', '"order":"descending"', '"tag":"x"'):
        assert printed(plain.replace('"type":"int"', f'"type":"int",{more}')) != printed(plain)


def test_normalized_properties_are_in_the_order_of_their_names():
    one = '{"type":"record","name":"R","b":1,"a":{"d":1,"c":2},"fields":[]}'
    other = '{"type":"record","name":"R","a":{"c":2,"d":1},"b":1,"fields":[]}'
    assert printed(one) != printed(other)
    assert normalized(parse(one)[0]) == normalized(parse(other)[0])


def test_a_type_is_written_out_once():
    text = '{"type":"record","name":"a.R","fields":[{"name":"n","type":["null","a.R"]},{"name":"m","type":"R"}]}'
    assert [field["type"] for field in json.loads(printed(text))["fields"]] == [["null", "R"], "R"]


@pytest.mark.parametrize(
    "text",
    [
        '"int"', "string", '["null","int"]', '{"type":"array","items":"string"}',
        '{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"enum","name":"E","symbols":["X"]}}]}',
        '{"type":"record","name":"R","fields":[{"name":"d","type":{"type":"bytes","logicalType":"decimal",'
        '"precision":4,"scale":2}},{"name":"m","type":{"type":"map","values":"R"}}]}',
    ],
)  # fmt: skip
def test_what_is_printed_is_the_same_schema_also_to_others(text):
    again = printed(text)
    assert printed(again) == again
    parse_schema(json.loads(again))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ('{"type":"nothing"}', "not a defined name"),
        ('{"type":"record","fields":[]}', "No name"),
        ('{"type":"record","name":"1R","fields":[]}', "Illegal character"),
        ('{"type":"record","name":"R"}', "no fields"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}', "Duplicate"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}', "Invalid default"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"],"default":"null"}]}', "Invalid def"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":["int","null"],"default":"x"}]}', "Invalid def"),
        ('{"type":"enum","name":"E","symbols":["A","A"]}', "Duplicate"),
        ('{"type":"enum","name":"E","symbols":["A"],"default":"B"}', "not in the enum"),
        ('{"type":"fixed","name":"F"}', "size"),
        ('{"type":"array"}', "no items"),
        ('["int","int"]', "Duplicate in union"),
        ('["int",["null"]]', "Nested union"),
        ("7", "no schema"),
        ('{"type":"array","items":' * 150 + '"int"' + "}" * 150, "deep"),
        ('{"type":"array","items":' * 100_000 + '"int"' + "}" * 100_000, "deep"),
    ],
)  # fmt: skip
def test_what_is_no_schema_is_refused_with_the_reason(text, message):
    with pytest.raises(InvalidSchema, match=message):
        parse(text)


def test_a_default_nested_deeper_than_it_can_be_checked_is_refused():
    levels = 600
    default = '{"x":' * levels + "null" + "}" * levels
    text = '{"type":"record","name":"R","fields":[{"name":"x","type":"R","default":' + default + "}]}"
    with pytest.raises(InvalidSchema, match="nested too deeply"):
        parse(text)
