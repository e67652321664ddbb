"""A record as the columns of a row. Pure."""

from typing import Any

from broker.connect.api import DataError, Schema, SinkRecord, Struct, Type

#: Columns of pk.mode=kafka, unless pk.fields names three others.
KAFKA_COLUMNS = ("__connect_topic", "__connect_partition", "__connect_offset")
_KAFKA_SCHEMAS = (Schema(Type.STRING), Schema(Type.INT32), Schema(Type.INT64))


class SqlRow:
    """A record as columns: those of the key, and the others; `others` None is a deletion."""

    def __init__(
        self, record: SinkRecord, keys: dict[str, Any], others: dict[str, Any] | None, schemas: dict[str, Schema]
    ):
        self.record, self.keys, self.others, self.schemas = record, keys, others, schemas

    @property
    def columns(self) -> dict[str, Any]:
        return {**self.keys, **(self.others or {})}


def row_of(
    record: SinkRecord, pk_mode: str, pk_fields: list[str], deletes: bool, fields: frozenset[str] = frozenset()
) -> SqlRow:
    """Return the row; of the value's fields only `fields` and the key, unless they are empty.

    Raises DataError for a record that is no row under these settings.
    """
    keys, schemas = _keys_of(record, pk_mode, pk_fields)
    if record.value is None:
        if not deletes:
            raise DataError("A tombstone, and delete.enabled is false")
        return SqlRow(record, keys, None, schemas)
    if not isinstance(record.value, Struct):
        raise DataError("A row needs a struct with its schema as the record's value")
    field_schemas = {field.name: field.schema for field in record.value.schema.fields}
    if pk_mode == "record_value":
        names = pk_fields or list(field_schemas)
        keys = {name: record.value[name] for name in names if name in field_schemas}
        if len(keys) < len(names):
            raise DataError(f"The value has not all fields of pk.fields: {', '.join(pk_fields)}")
    others = {name: record.value[name] for name in field_schemas if name not in keys and (not fields or name in fields)}
    if not others and not keys:
        raise DataError("The value has none of the fields of fields.whitelist")
    return SqlRow(record, keys, others, {**field_schemas, **schemas})


def _keys_of(record: SinkRecord, pk_mode: str, pk_fields: list[str]) -> tuple[dict[str, Any], dict[str, Schema]]:
    if pk_mode == "kafka":
        names = pk_fields or KAFKA_COLUMNS
        place = (record.topic, record.partition, record.offset)
        return dict(zip(names, place, strict=True)), dict(zip(names, _KAFKA_SCHEMAS, strict=True))
    if pk_mode != "record_key":
        return {}, {}
    if record.key is None or record.key_schema is None:
        raise DataError("pk.mode=record_key needs a key with its schema")
    if isinstance(record.key, Struct):
        names = pk_fields or list(record.key)
        missing = [name for name in names if name not in record.key.schema.fields_by_name]
        if missing:
            raise DataError(f"The key has no field {missing[0]}")
        schemas = {name: record.key.schema.fields_by_name[name].schema for name in names}
        return {name: record.key[name] for name in names}, schemas
    if len(pk_fields) != 1 or not record.key_schema.type.is_primitive:
        raise DataError("A primitive key needs exactly one name in pk.fields")
    return {pk_fields[0]: record.key}, {pk_fields[0]: record.key_schema}
