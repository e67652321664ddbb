"""The bytes in `_schemas`, which others read and which compaction goes by: they must never change."""

import pytest

from broker.registry.records import (
    ClearSubjectKey,
    CompatibilityKey,
    ContextKey,
    DeleteSubjectKey,
    IdsKey,
    ModeKey,
    NoopKey,
    SchemaKey,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    schema_record,
    version_of,
)
from broker.registry.schema import Content, SchemaReference, Version

KEYS = [
    (SchemaKey("s", 1), b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}'),
    (CompatibilityKey("s"), b'{"keytype":"CONFIG","subject":"s","magic":0}'),
    (CompatibilityKey(""), b'{"keytype":"CONFIG","magic":0}'),
    (ModeKey("s"), b'{"keytype":"MODE","subject":"s","magic":0}'),
    (DeleteSubjectKey("s"), b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}'),
    (ClearSubjectKey("s"), b'{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}'),
    (ContextKey(".c"), b'{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}'),
    (NoopKey(), b'{"keytype":"NOOP","magic":0}'),
    (IdsKey("."), b'{"keytype":"BARNABAS_IDS","context":".","magic":0}'),
]


@pytest.mark.parametrize(("key", "data"), KEYS)
def test_a_key_has_the_bytes_that_others_write(key, data):
    assert encode_key(key) == data
    assert decode_key(data) == key


def test_an_old_way_of_writing_a_key_is_read():
    assert decode_key(b'{"magic":0,"keytype":"CONFIG","subject":null}') == CompatibilityKey("")


def test_a_kind_of_key_of_later_registries_is_passed_over():
    assert decode_key(b'{"keytype":"ASSOC","tenant":"t"}') is None


def test_what_is_no_key_is_an_error():
    for data in (b"null", b"7", b"{", b'{"keytype":"SCHEMA","subject":7,"version":1}'):
        with pytest.raises(ValueError):
            decode_key(data)


def test_a_schema_is_written_as_others_read_it():
    plain = Version("s", 1, 7, Content("AVRO", '"int"'))
    assert encode_value(schema_record(plain).value) == (
        b'{"subject":"s","version":1,"id":7,"schema":"\\"int\\"","deleted":false}'
    )
    content = Content("JSON", "{}", (SchemaReference("a", "b", 1),), '{"properties":{"o":"me"}}')
    assert encode_value(schema_record(Version("s", 2, 8, content, deleted=True)).value) == (
        b'{"subject":"s","version":2,"id":8,"schemaType":"JSON","references":[{"name":"a","subject":"b","version":1}],'
        b'"metadata":{"properties":{"o":"me"}},"schema":"{}","deleted":true}'
    )


def test_a_schema_comes_back_as_it_was():
    content = Content(
        "PROTOBUF", "x", (SchemaReference("a", "b", 1),), '{"tags":{"a":["b"]}}', '{"domainRules":[{"name":"r"}]}'
    )
    version = Version(":.c:s", 3, 9, content, deleted=True)
    assert version_of(decode_value(encode_value(schema_record(version).value))) == version
