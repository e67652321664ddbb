"""GUIDs are Confluent's: what its registries say of the schemas of its own test, whatever is beside the text."""

import json

import pytest

from broker.registry.guid import guid_of, read_guid
from broker.registry.records import SchemaKey, schema_record
from broker.registry.schema import Content, SchemaReference, Version
from broker.registry.store import SchemaStore

FIELDS = {"name": "string", "age": "int", "ssn": "string"} | {
    item.lower(): f"io.confluent.kafka.example.{item}" for item in ("User", "Address")
}
TEXT = json.dumps(
    {
        "type": "record", "name": "Person", "namespace": "io.confluent.kafka.example",
        "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()],
    },
    separators=(",", ":"),
)  # fmt: skip
REFERENCES = (
    SchemaReference("io.confluent.kafka.example.User", "User", 1),
    SchemaReference("io.confluent.kafka.example.Address", "Address", 2),
)
METADATA = json.dumps(
    {
        "tags": {"team": ["data-engineering"], "environment": ["staging", "production"]},
        "properties": {"description": "Person schema for user management", "owner": "data-team", "version": "1.0.0"},
        "sensitive": ["ssn", "credit-card"],
    }
)


def rule(name, doc, kind, mode, type_, field, expr):
    return {
        "name": name, "doc": doc, "kind": kind, "mode": mode, "type": type_, "tags": ["PERSON"],
        "params": {"field": field}, "expr": expr, "onSuccess": "none", "onFailure": "error", "disabled": False,
    }  # fmt: skip


RULES = json.dumps(
    {
        "migrationRules": [
            rule("upgrade-rule-1", "Upgrade rule for field changes", "TRANSFORM", "UPGRADE", "FIELD_UPDATE", "name",
                 "field.name = field.name.toUpperCase()"),
            rule("downgrade-rule-1", "Downgrade rule for compatibility", "TRANSFORM", "DOWNGRADE", "FIELD_DELETE",
                 "ssn", "delete field.ssn"),
        ],
        "domainRules": [
            rule("validation-rule-1", "Validate age field", "CONDITION", "WRITE", "FIELD_VALIDATION", "age",
                 "field.age >= 0 && field.age <= 150"),
            rule("masking-rule-1", "Mask sensitive data on read", "TRANSFORM", "READ", "DATA_MASKING", "ssn",
                 "field.ssn = '***-**-****'"),
        ],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("beside", "guid"),
    [
        ({}, "d629bb05-ad85-3d20-fbcb-895de3c459f7"),
        ({"rule_set": RULES}, "c0708b8f-65f6-b698-bffe-45c1dfa8987c"),
        ({"metadata": METADATA}, "2034166c-90a8-1166-0ff2-f5f62c80dbe0"),
        ({"references": REFERENCES}, "5c08d70e-5347-41b2-6369-199425d044eb"),
        (
            {"references": REFERENCES, "metadata": METADATA, "rule_set": RULES},
            "589556fb-ad98-e8e0-94fa-e6da3455433a",
        ),
    ],
)
def test_a_guid_is_what_confluents_registries_say(beside, guid):
    assert str(guid_of(Content("AVRO", TEXT, **beside))) == guid


def test_metadata_that_nobody_could_register_have_none():
    assert guid_of(Content("AVRO", TEXT, metadata='{"tags":[1]}')) is None
    assert read_guid("no guid") is None


def test_a_guid_is_known_in_each_context_as_long_as_a_version_is():
    store, content = SchemaStore(), Content("AVRO", '"string"')
    guid = guid_of(content)
    for subject, schema_id in (("a", 7), (":.x:b", 3)):
        version = Version(subject, 1, schema_id, content)
        record = schema_record(version)
        assert store.apply(record.key, record.value) == ""
    assert store.ids_of_guid(guid) == [(".", 7), (".x", 3)]
    store.apply(SchemaKey("a", 1), None)
    assert store.ids_of_guid(guid) == [(".x", 3)]
    store.apply(SchemaKey(":.x:b", 1), None)
    assert store.ids_of_guid(guid) == []
