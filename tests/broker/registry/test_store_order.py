"""Versions of a subject are told in order, in whatever order their records come."""

from broker.registry.records import SchemaKey, schema_record
from broker.registry.schema import Content, Version
from broker.registry.store import SchemaStore


def put(store: SchemaStore, number: int) -> None:
    version = Version("s", number, number, Content("AVRO", f'"{number}"'))
    assert store.apply(SchemaKey("s", number), schema_record(version).value) == ""


def test_versions_that_come_in_another_order_are_told_in_theirs():
    store = SchemaStore()
    for number in (3, 1, 5, 2):
        put(store, number)
    assert [version.version for version in store.versions("s")] == [1, 2, 3, 5]
    put(store, 4)
    store.apply(SchemaKey("s", 2), None)
    assert [[version.version for version in versions] for _, versions in store.subjects()] == [[1, 3, 4, 5]]
    for number in (1, 3, 4, 5):
        store.apply(SchemaKey("s", number), None)
    assert store.versions("s") == []
