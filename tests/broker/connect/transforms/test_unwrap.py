"""ExtractNewRecordState: the row of a change event, for each way of telling a deletion."""

from dataclasses import replace

import pytest

from broker.connect.api import ConfigError, DataError, Field, Schema, SinkRecord, Struct, Type
from broker.connect.api import schema as types
from broker.connect.plugins import PluginKind, lookup

ROW = Schema(
    Type.STRUCT, optional=True, name="pear.Value", fields=(Field("id", types.INT32), Field("topic", types.STRING))
)
SOURCE = Schema(Type.STRUCT, name="source", fields=(Field("lsn", types.INT64), Field("table", types.STRING)))
EVENT = Schema(
    Type.STRUCT,
    name="pear.Envelope",
    fields=(Field("before", ROW), Field("after", ROW), Field("source", SOURCE), Field("op", types.STRING)),
)
PEAR = Struct(ROW, {"id": 1, "topic": "ripe"})


def event(before, after, op):
    source = Struct(SOURCE, {"lsn": 9, "table": "pears"})
    value = Struct(EVENT, {"before": before, "after": after, "source": source, "op": op})
    return SinkRecord("t", 0, 1, None, None, EVENT, value, 5)


INSERTED, DELETED = event(None, PEAR, "c"), event(PEAR, None, "d")
TOMBSTONE = replace(DELETED, value=None, value_schema=None)


def unwrapped(record, **props):
    transform = lookup("io.debezium.transforms.ExtractNewRecordState", PluginKind.TRANSFORMATION)()
    transform.configure({key.replace("__", "."): value for key, value in props.items()})
    return transform.apply(record)


def test_a_row_takes_the_place_of_its_event():
    record = unwrapped(INSERTED)
    assert (record.value, record.value_schema) == (PEAR, ROW)


@pytest.mark.parametrize(
    ("props", "deletion", "tombstone"),
    [
        ({}, "tombstone", False),
        ({"delete__tombstone__handling__mode": "drop"}, "nothing", False),
        ({"delete__tombstone__handling__mode": "rewrite"}, "row", False),
        ({"delete__tombstone__handling__mode": "rewrite-with-tombstone"}, "row", True),
        ({"delete__tombstone__handling__mode": "delete-to-tombstone"}, "tombstone", False),
        ({"drop__tombstones": "true"}, "nothing", False),
        ({"drop__tombstones": "false"}, "nothing", True),
        ({"delete__handling__mode": "none"}, "tombstone", False),
        ({"delete__handling__mode": "rewrite", "drop__tombstones": "false"}, "row", True),
    ],
)
def test_a_deletion_is_what_the_mode_says(props, deletion, tombstone):
    record = unwrapped(DELETED, **props)
    if deletion == "row":
        assert dict(record.value) == {"id": 1, "topic": "ripe", "__deleted": "true"}
        assert unwrapped(INSERTED, **props).value["__deleted"] == "false"
    elif deletion == "tombstone":
        assert record.value is None
    else:
        assert record is None
    assert (unwrapped(TOMBSTONE, **props) is not None) is tombstone


def test_fields_of_the_event_become_fields_and_headers():
    record = unwrapped(INSERTED, add__fields="op,lsn,source.table:from", add__headers="op,source.lsn")
    assert {name: record.value[name] for name in ("__op", "__lsn", "__from")} == {
        "__op": "c", "__lsn": 9, "__from": "pears",
    }  # fmt: skip
    assert [(header.key, header.value) for header in record.headers] == [("__op", "c"), ("__source_lsn", 9)]
    assert record.value_schema.field("__lsn").schema.optional


def test_a_field_of_the_row_names_the_topic():
    assert unwrapped(INSERTED, route__by__field="topic").topic == "ripe"


def test_what_is_no_event_passes():
    for value, schema in (({"after": {}}, None), (PEAR, ROW), ("text", types.STRING)):
        record = replace(INSERTED, value=value, value_schema=schema)
        assert unwrapped(record) is record


def test_a_field_that_the_event_lacks_is_named():
    with pytest.raises(DataError, match="no field nothing"):
        unwrapped(INSERTED, add__fields="nothing")


@pytest.mark.parametrize(
    "props", [{"drop__fields__header__name": "x"}, {"add__fields": "a.b.c"}, {"delete__handling__mode": "keep"}]
)
def test_what_is_not_supported_is_refused(props):
    with pytest.raises(ConfigError):
        unwrapped(INSERTED, **props)
