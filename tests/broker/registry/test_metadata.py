"""Metadata and rules of a schema: what no answer could carry, or no comparison could read, is refused at once."""

import json

import pytest
from starlette.requests import Request

from broker.registry.compatibility import of_group
from broker.registry.errors import RegistryError
from broker.registry.records import SchemaKey, canonical_json, properties_of, schema_record
from broker.registry.rest.answers import list_answer, version_fields
from broker.registry.rest.asking import asked_in
from broker.registry.schema import Content, Version
from broker.registry.settings import config_record
from broker.registry.store import SchemaStore


def nested(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


async def metadata_of(**body):
    async def receive():
        return {"type": "http.request", "body": json.dumps({"schema": '"int"', **body}).encode()}

    return await asked_in(Request({"type": "http", "query_string": b""}, receive))


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": nested(101)},
        {"metadata": {"properties": [nested(100)]}},
        {"ruleSet": {"domainRules": [nested(100)]}},
        {"metadata": nested(900)},
        {"metadata": {"properties": "x"}},
        {"metadata": {"tags": 5}},
        {"metadata": []},
    ],
    ids=lambda body: str(body)[:40],
)
async def test_a_schema_with_metadata_that_others_could_not_be_answered_is_refused(body):
    with pytest.raises(RegistryError) as refusal:
        await metadata_of(**body)
    assert refusal.value.code == 42210


async def test_metadata_as_people_write_them_are_taken():
    metadata = {"properties": {"owner": "a"}, "tags": {"f.b": ["PII"]}, "sensitive": ["owner"]}
    result = await metadata_of(
        metadata=metadata, ruleSet={"domainRules": [{"name": "r", "type": "CEL", "params": {"a": "b"}}]}
    )
    assert json.loads(result.content.metadata) == metadata
    assert (await metadata_of(metadata={"properties": None})).content.metadata == ""
    assert (await metadata_of(metadata=nested(100))).content.metadata


def test_a_setting_that_is_nested_too_deeply_is_refused():
    for name in ("defaultMetadata", "overrideRuleSet"):
        with pytest.raises(RegistryError, match=f"{name} is nested") as refusal:
            config_record(SchemaStore(), "s", {name: nested(101)})
        assert refusal.value.code == 422


def stored(levels: int) -> Version:
    """A version as an earlier release took it."""
    return Version("s", 1, 1, Content("AVRO", '"int"', metadata=json.dumps(nested(levels))))


def test_the_list_of_schemas_is_answered_although_an_earlier_release_took_one_that_is_nested_deeply():
    record = schema_record(stored(253))
    store = SchemaStore()
    assert store.apply(record.key, record.value) == ""
    listed = [version_fields(version) for _, versions in store.subjects() for version in versions]
    body = list_answer(listed).body
    assert body.startswith(b'[{"subject":"s"')
    assert body.endswith(b"}]")


def test_a_record_of_another_program_that_no_answer_could_carry_is_passed_over():
    store = SchemaStore()
    value = schema_record(stored(1)).value | {"metadata": nested(600)}
    assert "nested too deeply" in store.apply(SchemaKey("s", 1), value)
    assert store.versions("s") == []
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical_json(nested(5_000))


@pytest.mark.parametrize("metadata", ['{"properties": []}', '{"properties": "x"}', "[]", ""])
def test_metadata_of_another_shape_that_are_there_already_have_no_properties(metadata):
    content = Content("AVRO", '"int"', metadata=metadata)
    assert properties_of(content) == {}
    assert of_group([Version("s", 1, 1, content)], content, "group")
