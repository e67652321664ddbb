"""What the registry holds takes a bounded part of memory, whatever clients register and set."""

import pytest

from broker.registry.errors import RegistryError
from broker.registry.records import CompatibilityKey, ModeKey, SchemaKey, config_of, schema_record
from broker.registry.registering import registration
from broker.registry.schema import Content, SchemaReference, Version
from broker.registry.settings import config_record, mode_records
from broker.registry.store import SchemaStore


@pytest.fixture
def store() -> SchemaStore:
    return SchemaStore()


def add(store: SchemaStore, subject: str, content: Content, number: int = 1) -> None:
    record = schema_record(Version(subject, number, number, content))
    assert store.apply(record.key, record.value) == ""


def register(store: SchemaStore, subject: str, text: str, **more):
    mode = {"mode": "READWRITE", "schema_id": None, "number": None} | more
    return registration(store, subject, Content("AVRO", text), **mode)


@pytest.mark.parametrize(
    "content",
    [
        Content("AVRO", "x" * 1_000),
        Content("AVRO", "x" * 249 + "😀"),
        Content("AVRO", '"int"', metadata="x" * 1_000),
        Content("AVRO", '"int"', rule_set="x" * 1_000),
        Content("AVRO", '"int"', tuple(SchemaReference("r", "s", 1) for _ in range(10))),
    ],
    ids=["text", "characters of four bytes", "metadata", "rules", "references"],
)
def test_whatever_a_schema_consists_of_counts_and_is_given_back_when_it_is_gone_for_good(store, content):
    key = SchemaKey("s", 1)
    content = Content(
        content.type,
        content.text,
        content.references,
        *[f'{{"a":"{text}"}}' if text else "" for text in (content.metadata, content.rule_set)],
    )
    add(store, "s", content)
    assert store.held_bytes >= 1_000
    store.apply(key, schema_record(Version("s", 1, 1, content, deleted=True)).value)
    assert store.held_bytes >= 1_000, "it is found by its id"
    store.apply(key, None)
    assert store.held_bytes == 0


def test_a_schema_under_many_subjects_is_held_once(store):
    for subject in "abc":
        record = schema_record(Version(subject, 1, 1, Content("AVRO", "x" * 1_000)))
        store.apply(record.key, record.value)
    assert 1_000 <= store.held_bytes < 2_000


def test_settings_count_by_what_their_objects_take_and_are_given_back(store):
    for subject in "abc":
        store.apply(CompatibilityKey(subject), {"defaultMetadata": {"properties": {"a": "x" * 1_000}}})
        store.apply(ModeKey(subject), {"mode": "READONLY"})
    assert store.held_bytes > 3 * 20_000
    for subject in "abc":
        store.apply(CompatibilityKey(subject), {"compatibilityLevel": "NONE"})
    assert store.held_bytes < 20_000
    for subject in "abc":
        store.apply(CompatibilityKey(subject), None)
        store.apply(ModeKey(subject), None)
    assert store.held_bytes == 0


def test_beyond_the_bound_nothing_is_added_and_everything_can_be_taken_away(store, monkeypatch):
    monkeypatch.setattr("broker.registry.room.REGISTRY_HELD_BYTES_MAX", 1_000)
    add(store, "s", Content("AVRO", "x" * 1_000))
    store.apply(CompatibilityKey("s"), {"defaultMetadata": {"properties": {"a": "x"}}})
    additions = [
        lambda: register(store, "t", '"int"'),
        lambda: register(store, "t", '"int"', mode="IMPORT", schema_id=9),
        lambda: config_record(store, "t", {"compatibility": "NONE"}),
        lambda: config_record(store, "s", {"defaultMetadata": {"properties": {"a": "longer"}}}),
        lambda: mode_records(store, "t", "READONLY", force=False),
    ]
    for add_more in additions:
        with pytest.raises(RegistryError, match="bytes of memory; delete some") as refusal:
            add_more()
        assert refusal.value.code == 42205
    shorter = config_record(store, "s", {"defaultMetadata": {}})
    assert store.apply(shorter.key, shorter.value) == ""
    assert mode_records(store, "", "READONLY", force=False), "all there is can be made read-only"


def test_versions_with_ids_from_elsewhere_are_bounded_like_others(store, monkeypatch):
    monkeypatch.setattr("broker.registry.room.REGISTRY_VERSIONS_MAX", 1)
    add(store, "s", Content("AVRO", '"int"'))
    with pytest.raises(RegistryError, match="There are 1 versions"):
        register(store, "t", '"long"', mode="IMPORT", schema_id=9)


def test_a_setting_that_cannot_be_written_again_changes_nothing(store):
    nested: dict = {}
    for _ in range(300):
        nested = {"a": nested}
    assert config_of({"defaultMetadata": nested})
    assert store.apply(CompatibilityKey("s"), {"defaultMetadata": nested}).startswith("its value cannot be read: ")
    assert (store.config("s"), store.held_bytes) == (None, 0)
