"""Data contracts: what a version inherits, which rule sets are taken, and which settings are heeded."""

import json

import pytest

from broker.registry.data_contracts import require_rule_set
from broker.registry.errors import RegistryError


def record(*fields, name="R"):
    typed = [{"name": field, "type": "int", "default": 0} for field in fields]
    return {"type": "record", "name": name, "fields": typed}


METADATA = {"properties": {"owner": "team-a"}, "tags": {"R.a": ["PII"]}}
RULES = {"domainRules": [{"name": "checkAge", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}


async def latest(registry, subject="s"):
    return (await registry.ask("GET", f"/subjects/{subject}/versions/latest")).body


async def test_a_schema_alone_is_the_version_with_metadata_and_rules(registry):
    """A producer with auto.register.schemas sends no more than its schema."""
    first = await registry.register("s", record("a"), metadata=METADATA, ruleSet=RULES)
    again = await registry.register("s", record("a"))
    assert (again.status, again.body["id"], again.body["version"]) == (200, first.body["id"], 1)


async def test_a_new_version_keeps_the_metadata_and_rules_of_the_one_before(registry):
    await registry.register("s", record("a"), metadata=METADATA, ruleSet=RULES)
    assert (await registry.register("s", record("a", "b"))).status == 200
    newest = await latest(registry)
    assert (newest["version"], newest["metadata"], newest["ruleSet"]) == (2, METADATA, RULES)


async def test_metadata_that_are_sent_empty_are_not_inherited(registry):
    await registry.register("s", record("a"), metadata=METADATA, ruleSet=RULES)
    await registry.register("s", record("a", "b"), metadata={})
    newest = await latest(registry)
    assert ("metadata" in newest, newest["ruleSet"]) == (False, RULES)


async def test_metadata_without_a_schema_make_a_version_of_the_latest_schema(registry):
    await registry.register("s", record("a"))
    assert (await registry.ask("POST", "/subjects/s/versions", {"metadata": METADATA})).body["version"] == 2
    newest = await latest(registry)
    assert (json.loads(newest["schema"])["name"], newest["metadata"]) == ("R", METADATA)


async def test_a_look_up_finds_the_schema_with_the_metadata_that_it_leaves_out(registry):
    await registry.register("s", record("a"), metadata=METADATA, ruleSet=RULES)
    await registry.register("s", record("a", "b"), metadata={"properties": {"owner": "team-b"}})
    for fields, version in (("a",), 1), (("a", "b"), 2):
        body = {"schema": json.dumps(record(*fields))}
        assert (await registry.ask("POST", "/subjects/s", body)).body["version"] == version
    wrong = {"schema": json.dumps(record("a")), "metadata": {"properties": {"owner": "team-c"}}}
    assert (await registry.ask("POST", "/subjects/s", wrong)).body["error_code"] == 40403


async def test_a_subject_adds_its_defaults_and_overrides(registry):
    config = {
        "defaultMetadata": {"properties": {"tier": "1", "owner": "nobody"}, "sensitive": ["tier"]},
        "overrideMetadata": {"properties": {"region": "eu"}, "sensitive": ["region"]},
        "defaultRuleSet": {"domainRules": [{"name": "first", "type": "CEL"}, {"name": "checkAge", "type": "CEL"}]},
    }
    assert (await registry.ask("PUT", "/config/s", config)).status == 200
    await registry.register("s", record("a"), metadata=METADATA, ruleSet=RULES)
    newest = await latest(registry)
    assert newest["metadata"]["properties"] == {"owner": "team-a", "region": "eu", "tier": "1"}
    assert newest["metadata"]["sensitive"] == ["region", "tier"]
    assert [rule["name"] for rule in newest["ruleSet"]["domainRules"]] == ["first", "checkAge"]
    assert newest["ruleSet"]["domainRules"][1]["mode"] == "WRITE"


async def test_the_version_in_the_metadata_makes_a_version_of_the_same_text(registry):
    await registry.register("s", record("a"))
    second = await registry.register("s", record("a"), version=2)
    assert (second.body["version"], second.body["metadata"]) == (2, {"properties": {"confluent:version": "2"}})
    assert second.body["id"] == 2
    third = await registry.register("s", record("a", "b"))
    assert third.body["metadata"] == {"properties": {"confluent:version": "3"}}
    again = await registry.register("s", record("a", "b"))
    assert (again.body["version"], again.body["id"]) == (3, third.body["id"]), "no version for each look"
    wrong = await registry.register("s", record("c"), version=7)
    assert (wrong.status, wrong.body["error_code"]) == (422, 42201)


async def test_a_latest_version_that_is_the_same_schema_is_not_made_again(registry):
    first = await registry.register("s", record("a"), version=-1)
    again = await registry.register("s", record("a"), version=-1)
    assert (first.body["version"], again.body["version"]) == (1, 1)


def rules(kind="domainRules", **rule):
    return {kind: [{"name": "x", "type": "CEL"} | rule]}


@pytest.mark.parametrize(
    ("rule_set", "sentence"),
    [
        (rules(kind="domainRules", mode="UPGRADE"), "Domain rules can only be WRITE, READ, WRITEREAD"),
        (rules(kind="encodingRules", mode="UPDOWN"), "Encoding rules can only be WRITE, READ, WRITEREAD"),
        (rules(kind="migrationRules", mode="READ"), "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"),
        (rules(kind="migrationRules"), "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"),
        ({"domainRules": [{"name": "x", "type": "A"}, {"name": "x", "type": "B"}]}, "duplicate name 'x'"),
        ({"domainRules": rules()["domainRules"], "encodingRules": rules()["domainRules"]}, "duplicate name 'x'"),
        ({"domainRules": [{"type": "CEL"}]}, "Missing rule name"),
        (rules(name=""), "Empty rule name"),
        (rules(name="x" * 257), "Rule name too long"),
        (rules(name="1x"), "Illegal initial character in rule name: 1x"),
        (rules(name="a b"), "Illegal character in rule name: a b"),
        ({"domainRules": [{"name": "x"}]}, "Missing rule type"),
        (rules(mode="WRITE", onFailure="ERROR,NONE"), "Multiple actions only valid"),
        (rules(mode="EVER"), "A rule's mode is one of"),
        (rules(kind_="x") | {"migrationRules": "x"}, "migrationRules is a list of rules"),
        ([], "ruleSet is an object"),
    ],
)
async def test_a_rule_set_that_makes_no_sense_is_refused_wherever_it_is_sent(registry, rule_set, sentence):
    with pytest.raises(RegistryError, match=sentence) as refusal:
        require_rule_set(rule_set)
    assert refusal.value.code == 42210
    answer = await registry.register("s", record("a"), ruleSet=rule_set)
    assert (answer.status, answer.body["error_code"]) == (422, 42210)
    if isinstance(rule_set, dict):
        assert (await registry.ask("PUT", "/config/s", {"defaultRuleSet": rule_set})).body["error_code"] == 42210


@pytest.mark.parametrize(
    "rule_set",
    [None, {}, RULES, rules(name="größe_1-x"), rules(onFailure="ERROR,NONE"), rules(mode=None, kind="CONDITION"),
     rules(kind="migrationRules", mode="UPDOWN", onSuccess="NONE,ERROR"), {"domainRules": None}],
    ids=str,
)  # fmt: skip
def test_rule_sets_that_clients_follow_are_taken(rule_set):
    require_rule_set(rule_set)


WRONG_DEFAULT = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": "x"}]}


async def test_defaults_are_checked_where_new_schemas_are_validated(registry):
    assert (await registry.register("s", WRONG_DEFAULT)).body["error_code"] == 42201
    assert (await registry.ask("PUT", "/config/s", {"validateNewSchemas": False})).status == 200
    assert (await registry.register("s", WRONG_DEFAULT)).status == 200
    await registry.ask("POST", "/compatibility/subjects/s/versions/latest", {"schema": json.dumps(record("a"))})
    assert (await registry.register("t", WRONG_DEFAULT)).body["error_code"] == 42201, "though it is known by now"
    assert (await registry.ask("GET", "/config/s")).body["validateNewSchemas"] is False


async def test_reserved_fields_stay_reserved_and_no_version_has_one(registry):
    await registry.ask("PUT", "/config/s", {"validateFields": True})
    reserved = {"properties": {"confluent:reserved": "old, older"}}
    assert (await registry.register("s", record("a"), metadata=reserved)).status == 200
    answer = await registry.register("s", record("a", "old"))
    assert answer.body["error_code"] == 40901
    assert "conflicts with the reserved field old" in answer.body["message"]
    assert "{validateFields: 'true', compatibility: 'BACKWARD'}" in answer.body["message"]
    fewer = {"properties": {"confluent:reserved": "old"}}
    answer = await registry.register("s", record("a", "b"), metadata=fewer)
    assert "reserved field older removed" in answer.body["message"]
    await registry.ask("PUT", "/config/s", {"validateFields": False})
    assert (await registry.register("s", record("a", "old"))).status == 200


async def test_names_that_begin_with_two_dollars_are_refused_where_fields_are_validated(registry):
    schema = {"type": "object", "properties": {"$$a": {"type": "string"}}}
    await registry.ask("PUT", "/config/s", {"validateFields": True})
    answer = await registry.register("s", schema, schemaType="JSON")
    assert (answer.body["error_code"], "$$ prefix" in answer.body["message"]) == (42201, True)
    assert (await registry.register("t", schema, schemaType="JSON")).status == 200


async def test_versions_are_compared_within_their_group_which_is_inherited(registry):
    await registry.ask("PUT", "/config/s", {"compatibilityGroup": "major"})
    await registry.register("s", record("a"), metadata={"properties": {"major": "1"}})
    other = {"type": "record", "name": "R", "fields": [{"name": "b", "type": "int"}]}
    refused = await registry.register("s", other)
    assert refused.body["error_code"] == 40901, "without metadata it is of the latest one's group"
    check = "/compatibility/subjects/s/versions/latest"
    assert (await registry.ask("POST", check, {"schema": json.dumps(other)})).body == {"is_compatible": True}
    assert (await registry.register("s", other, metadata={"properties": {"major": "2"}})).status == 200
    third = {"type": "record", "name": "R", "fields": [{"name": "c", "type": "int"}]}
    assert (await registry.register("s", third, metadata={})).status == 200, "no version has no group"
    fourth = {"type": "record", "name": "R", "fields": [{"name": "d", "type": "int"}]}
    assert (await registry.register("s", fourth, metadata={})).body["error_code"] == 40901


async def test_a_schema_that_is_forced_is_not_compared(registry):
    await registry.register("s", record("a"))
    other = {"type": "record", "name": "R", "fields": [{"name": "b", "type": "int"}]}
    body = {"schema": json.dumps(other)}
    refused = await registry.ask("POST", "/subjects/s/versions", body)
    assert (refused.status, refused.body["error_code"]) == (409, 40901)
    assert 'an earlier schema for subject "s", details: [' in refused.body["message"]
    assert (await registry.ask("POST", "/subjects/s/versions?force=true", body)).body["version"] == 2
