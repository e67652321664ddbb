"""What JSON may escape or name and no client reads, half of a character or an infinite number, is refused in a
sentence, wherever it stands in a new schema."""

import json

import pytest

from broker.registry import kinds
from broker.registry.errors import InvalidSchema
from broker.registry.rest.answers import error_answer

SCHEMAS = [
    ("JSON", r'{"title": "\ud800"}'),
    ("JSON", r'{"properties": {"\udfff": {"default": 1}}}'),
    ("JSON", r'{"$ref": "#/definitions/\ud800"}'),
    ("AVRO", r'{"type": "record", "name": "R", "doc": "\ud800", "fields": []}'),
    ("AVRO", r'{"type": "enum", "name": "E", "symbols": ["\ud800"]}'),
    ("AVRO", r'"\ud800"'),
]


@pytest.mark.parametrize(("kind", "text"), SCHEMAS)
def test_a_new_schema_with_half_of_a_character_is_refused_in_a_sentence(kind, text):
    with pytest.raises(InvalidSchema) as refused:
        kinds.parse(kind, text, ())
    answer = error_answer(refused.value)
    assert answer.status_code == 422
    assert json.loads(answer.body)["message"]


def test_a_whole_character_that_is_escaped_is_taken():
    assert "😀" in kinds.parse("JSON", r'{"title": "\ud83d\ude00"}', ()).canonical


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("JSON", '{"type": "number", "minimum": 1e999}'),
        ("JSON", '{"default": -1e999}'),
        ("JSON", '{"default": NaN}'),
        ("AVRO", '{"type": "int", "of.its.own": 1e999}'),
    ],
)
def test_a_number_that_would_be_stored_as_no_json_is_refused(kind, text):
    with pytest.raises(InvalidSchema, match="which is no JSON"):
        kinds.parse(kind, text, ())
    assert kinds.parse(kind, text, (), is_new=False), "one that is stored already is read"
