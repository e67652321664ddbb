"""Tags stand in the text of the schema, where a consumer's rules look for them."""

import json

import pytest

from broker.common.limits import REGISTRY_MESSAGES_BYTES_MAX
from broker.registry.errors import InvalidSchema
from broker.registry.kinds import parse
from broker.registry.protobuf import compiler
from broker.registry.tags import FIELD, RECORD, TagChanges, TagEntity, TaggedEntities


@pytest.fixture(scope="module", autouse=True)
def no_process_is_left():
    yield
    compiler.close()


AVRO = json.dumps(
    {"type": "record", "name": "R", "namespace": "n", "fields": [
        {"name": "a", "type": "int", "confluent:tags": ["OLD"]},
        {"name": "b", "type": ["null", {"type": "record", "name": "Inner", "fields": [{"name": "c", "type": "int"}]}]},
    ]}
)  # fmt: skip
JSON = json.dumps(
    {"type": "object", "properties": {
        "a": {"type": "string", "confluent:tags": ["OLD"]},
        "x.y": {"type": "array", "items": {"type": "object", "properties": {"c": {}}}},
        "one": {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"d": {}}}]},
    }, "definitions": {"D": {"type": "object", "properties": {"e": {}}}}}
)  # fmt: skip
PROTO = """syntax = "proto3"; package p; import "confluent/meta.proto";
message M { string a = 1 [(confluent.field_meta) = { tags: "OLD" doc: "d" }]; oneof o { int32 x = 2; }
  message Inner { int32 c = 1; } map<string, int32> m = 3; }"""
PATHS = [
    ("AVRO", AVRO, "n.R.a", ["n.R", "n.Inner", "R", "Inner"], ["n.R.b", "n.Inner.c", "Inner.c"]),
    ("JSON", JSON, "object.a", ["object", "object.x.y.array.object", "object.definitions.D.object"],
     ["object.x.y", "object.x.y.array.object.c", "object.definitions.D.object.e", "object.one.oneof.1.object.d"]),
    ("PROTOBUF", PROTO, "M.a", ["M", "M.Inner"], ["M.x", "M.o.x", "M.Inner.c", "M.m"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "tagged", "records", "fields"), PATHS, ids=[row[0] for row in PATHS])
def test_tags_are_written_into_the_text_and_found_there(kind, text, tagged, records, fields):
    parsed = parse(kind, text, ())
    before = {TagEntity(FIELD, tagged): ["OLD"]}
    assert parsed.inline_tags().tags == before
    for entity in [*(TagEntity(RECORD, path) for path in records), *(TagEntity(FIELD, path) for path in fields)]:
        added = parse(kind, parsed.with_tags(TagChanges({entity: ["PII", "X", "PII"]}, {})), ())
        tags = added.inline_tags().tags
        assert len(tags) == 2, entity
        assert ["PII", "X"] in tags.values(), entity
        removed = added.with_tags(TagChanges({}, {entity: ["X", "PII", "NONE"]}))
        assert parse(kind, removed, ()).inline_tags().tags == before
    both = TagChanges({TagEntity(FIELD, tagged): ["NEW"]}, {TagEntity(FIELD, tagged): ["OLD"]})
    changed = parse(kind, parsed.with_tags(both), ())
    assert changed.inline_tags().tags == {TagEntity(FIELD, tagged): ["NEW"]}
    assert parsed.inline_tags().tags == before, "the parsed schema itself is as it was"


@pytest.mark.parametrize(("kind", "text", "tagged", "records", "fields"), PATHS, ids=[row[0] for row in PATHS])
def test_tags_of_what_is_not_there_are_refused(kind, text, tagged, records, fields):
    parsed = parse(kind, text, ())
    for path in (
        "",
        ".",
        "nothing",
        "M",
        "R.z",
        f"{tagged}.z",
        "object.z",
        "array",
        "oneof.x",
        "object.one.oneof.9.object.d",
    ):
        entity = TagEntity(FIELD, path)
        with pytest.raises(InvalidSchema, match="No matching path"):
            parsed.with_tags(TagChanges({entity: ["T"]}, {}))
        assert parsed.with_tags(TagChanges({entity: ["T"]}, {}, skips_missing=True))


def test_paths_of_tags_take_a_bounded_part_of_memory():
    entities = TaggedEntities()
    name = "x" * (REGISTRY_MESSAGES_BYTES_MAX // 2)
    entities.add(FIELD, (name,), ["T"])
    with pytest.raises(InvalidSchema, match="too long together"):
        entities.add(FIELD, (name, "y"), ["T"])


def test_a_long_namespace_of_many_records_is_refused():
    """Each full name repeats it."""
    fields = [{"name": f"f{at}", "type": {"type": "record", "name": f"R{at}", "fields": []}} for at in range(400)]
    schema = {"type": "record", "name": "R", "namespace": "n" * 50_000, "fields": fields}
    with pytest.raises(InvalidSchema, match="shorter namespace"):
        parse("AVRO", json.dumps(schema), ())


def entity(path, *tags, kind=FIELD):
    return {"schemaEntity": {"entityPath": path, "entityType": kind}, "tags": list(tags)}


async def test_a_registration_may_tag_its_schema(registry):
    added = await registry.register(
        "s", AVRO, schemaTagsToAdd=[entity(".n.R.b", "PII"), entity("n.R", "T", kind=RECORD)]
    )
    assert added.body["metadata"] == {"properties": {"confluent:version": "1"}}
    tree = json.loads(added.body["schema"])
    assert (tree["confluent:tags"], tree["fields"][1]["confluent:tags"]) == (["T"], ["PII"])
    removed = await registry.register("s", added.body["schema"], schemaTagsToRemove=[entity("n.R.b", "PII")])
    assert removed.body["version"] == 2
    assert "confluent:tags" not in json.loads(removed.body["schema"])["fields"][1]
    wrong = await registry.register("s", AVRO, schemaTagsToAdd=[entity("n.R.none", "PII")])
    assert wrong.body["error_code"] == 42201
    assert (await registry.register("s", AVRO, schemaTagsToAdd=["x"])).status == 422


async def test_a_version_takes_over_the_tags_of_the_one_before(registry):
    await registry.register("s", AVRO)
    plain = json.loads(AVRO)
    del plain["fields"][0]["confluent:tags"]
    plain["fields"].append({"name": "d", "type": "int", "default": 1})
    answer = await registry.register("s", plain, propagateSchemaTags=True)
    assert json.loads(answer.body["schema"])["fields"][0]["confluent:tags"] == ["OLD"]


async def test_tags_are_found_by_their_names(registry):
    await registry.register("s", AVRO)
    for path in ("/schemas/ids/1", "/subjects/s/versions/1"):
        assert (await registry.ask("GET", f"{path}?findTags=OLD")).body["schemaTags"] == [entity("n.R.a", "OLD")]
        assert (await registry.ask("GET", f"{path}?findTags=*")).body["schemaTags"] == [entity("n.R.a", "OLD")]
        assert (await registry.ask("GET", f"{path}?findTags=NEW")).body["schemaTags"] == []


RULES = {"domainRules": [{"name": "one", "type": "CEL", "mode": "READ"}, {"name": "two", "type": "CEL"}]}


async def test_a_version_is_tagged_as_a_version_of_its_own(registry):
    await registry.register("s", AVRO, ruleSet=RULES, metadata={"properties": {"owner": "a"}})
    path = "/subjects/s/versions/latest/tags"
    second = (await registry.ask("POST", path, {"newVersion": 2, "tagsToAdd": [entity("n.R.b", "PII")]})).body
    assert second["version"] == 2
    assert second["metadata"]["properties"] == {"owner": "a", "confluent:version": "2"}
    assert json.loads(second["schema"])["fields"][1]["confluent:tags"] == ["PII"]
    assert second["ruleSet"] == RULES
    change = {"rulesToMerge": {"domainRules": [{"name": "three", "type": "CEL"}]}, "rulesToRemove": ["one"]}
    third = (await registry.ask("POST", path, change)).body
    assert [rule["name"] for rule in third["ruleSet"]["domainRules"]] == ["two", "three"]
    assert third["metadata"]["properties"]["confluent:version"] == "3"
    both = {"ruleSet": RULES, "rulesToRemove": ["one"]}
    assert (await registry.ask("POST", path, both)).body["error_code"] == 42210
    assert (await registry.ask("POST", path, {"tagsToAdd": [entity("n.R.z", "T")]})).body["error_code"] == 42201
    assert (await registry.ask("POST", "/subjects/none/versions/1/tags", {})).body["error_code"] == 40401
