"""Tags of an Avro schema: members `confluent:tags` of records and of their fields. Pure."""

from collections.abc import Iterator
from typing import Any

from broker.registry.avro.model import AvroType
from broker.registry.tags import FIELD, RECORD, TagChanges, TagEntity, TaggedEntities, put_tags, tags_in


def change_tags(type_: AvroType, changes: TagChanges) -> None:
    """Change the tree itself. A path is a full name, or a name alone for the first record called so.

    Raises InvalidSchema.
    """
    records: dict[str, AvroType] = {}
    for record in _records(type_):
        assert record.name is not None
        records.setdefault(record.name.full, record)
        records.setdefault(record.name.local, record)
    fields: dict[int, dict[str, dict[str, Any]]] = {}
    for entity in changes.entities:
        members = _members(records, fields, entity)
        if members is None:
            changes.require(entity)
        else:
            put_tags(members, changes.applied(entity, tags_in(members)))


def _members(
    records: dict[str, AvroType], fields: dict[int, dict[str, dict[str, Any]]], entity: TagEntity
) -> dict[str, Any] | None:
    """Return the members of the entity; `fields` keeps those of the fields of a record, by name."""
    if entity.kind == RECORD:
        definition = records.get(entity.path)
        return definition.properties if definition else None
    path, _, name = entity.path.rpartition(".")
    record = records.get(path)
    if record is None:
        return None
    if id(record) not in fields:
        fields[id(record)] = {field.name: field.properties for field in record.fields}
    return fields[id(record)].get(name)


def inline_tags(type_: AvroType) -> TaggedEntities:
    entities = TaggedEntities()
    for record in _records(type_):
        assert record.name is not None
        entities.add(RECORD, (record.name.full,), tags_in(record.properties))
        for field in record.fields:
            entities.add(FIELD, (record.name.full, field.name), tags_in(field.properties))
    return entities


def _records(type_: AvroType) -> Iterator[AvroType]:
    """Yield every record that the schema itself defines, once, from the outermost on."""
    waiting, seen = [type_], set[int]()
    for definition in waiting:
        if id(definition) in seen or definition.is_referred:
            continue
        seen.add(id(definition))
        if definition.kind in ("record", "error"):
            yield definition
        waiting += [*definition.inner, *(field.type for field in definition.fields)]
