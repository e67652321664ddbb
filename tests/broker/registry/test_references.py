"""What a schema refers to is collected once, and bounded by number and by bytes."""

import pytest

from broker.common.limits import REGISTRY_SCHEMA_BYTES_MAX
from broker.common.security_limits import REGISTRY_REFERENCED_BYTES_MAX
from broker.registry.errors import InvalidSchema
from broker.registry.records import schema_record
from broker.registry.registering import referred
from broker.registry.schema import Content, SchemaReference, Version
from broker.registry.store import SchemaStore


@pytest.fixture
def store():
    """Subjects `s1` to `s10`, each of a schema of the largest size."""
    store = SchemaStore()
    for number in range(1, 11):
        content = Content("AVRO", f"{number:<{REGISTRY_SCHEMA_BYTES_MAX}}")
        record = schema_record(Version(f"s{number}", 1, number, content))
        store.apply(record.key, record.value)
    return store


def referring(count):
    return Content("AVRO", "text", tuple(SchemaReference(f"s{index}", f"s{index}", 1) for index in range(1, count + 1)))


def test_a_new_schema_refers_to_so_many_bytes_at_most(store):
    fitting = REGISTRY_REFERENCED_BYTES_MAX // REGISTRY_SCHEMA_BYTES_MAX
    assert len(referred(store, ".", referring(fitting), also_deleted=False)) == fitting
    with pytest.raises(InvalidSchema, match="bytes together; refer to fewer"):
        referred(store, ".", referring(fitting + 1), also_deleted=False)


def test_bytes_of_what_is_referred_to_indirectly_count_as_well(store):
    record = schema_record(Version("middle", 1, 11, referring(4)))
    store.apply(record.key, record.value)
    content = Content("AVRO", "text", (SchemaReference("m", "middle", 1),))
    with pytest.raises(InvalidSchema, match="bytes together"):
        referred(store, ".", content, also_deleted=False)


def test_a_stored_schema_keeps_what_it_referred_to_before_there_was_a_bound(store):
    assert len(referred(store, ".", referring(10), also_deleted=True)) == 10
