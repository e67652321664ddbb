"""Tags of a Protobuf schema: of messages in `confluent.message_meta`, of fields in `confluent.field_meta`. Pure.

A path is the names of the messages from the outermost on, without the package, and the field's; the name of its oneof
may stand before that.
"""

from collections.abc import Sequence
from typing import Any

from confluent_kafka.schema_registry.confluent.meta_pb2 import DESCRIPTOR as _META
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

from broker.registry.tags import FIELD, RECORD, TagChanges, TagEntity, TaggedEntities

META = "confluent/meta.proto"
_OF_MESSAGE, _OF_FIELD = (_META.extensions_by_name[name] for name in ("message_meta", "field_meta"))


def with_tags(file: FileDescriptorProto, changes: TagChanges) -> FileDescriptorProto:
    """Return another file with other tags, which imports what defines them. Raises InvalidSchema."""
    changed = FileDescriptorProto.FromString(file.SerializeToString())  # so that options of Confluent's are read
    names: dict[int, dict[str, Any]] = {}
    for entity in changes.entities:
        place = _place(changed, names, entity)
        if place is None:
            changes.require(entity)
            continue
        options, extension = place
        tags = changes.applied(entity, options.Extensions[extension].tags)
        del options.Extensions[extension].tags[:]
        options.Extensions[extension].tags.extend(tags)
        if not options.Extensions[extension].ByteSize():
            options.ClearExtension(extension)
    if META not in changed.dependency:
        changed.dependency.append(META)
    return changed


def _place(file: FileDescriptorProto, names: dict[int, dict[str, Any]], entity: TagEntity) -> tuple[Any, Any] | None:
    """Return options and extension of the entity; `names` keeps the messages and fields of a message, by name."""
    *path, last = entity.path.split(".")
    message: Any = file
    for part in path if entity.kind == FIELD else (*path, last):
        nested = file.message_type if message is file else message.nested_type
        descriptor = _named(names, nested, id(message)).get(part)
        if descriptor is None and entity.kind == FIELD and part == path[-1] and message is not file:
            break  # the name of a oneof
        if descriptor is None or descriptor.options.map_entry:
            return None
        message = descriptor
    if message is file:
        return None
    if entity.kind == RECORD:
        return message.options, _OF_MESSAGE
    field = _named(names, message.field, -id(message)).get(last)
    return (field.options, _OF_FIELD) if field is not None else None


def _named(names: dict[int, dict[str, Any]], protos: Any, key: int) -> dict[str, Any]:
    if key not in names:
        names[key] = {proto.name: proto for proto in protos}
    return names[key]


def inline_tags(files: Sequence[FileDescriptorProto]) -> TaggedEntities:
    file = FileDescriptorProto.FromString(files[-1].SerializeToString())
    entities = TaggedEntities()
    for message in file.message_type:
        _collect(message, (), entities)
    return entities


def _collect(message: DescriptorProto, around: tuple[str, ...], entities: TaggedEntities) -> None:
    path = (*around, message.name)
    if not message.options.map_entry:
        entities.add(RECORD, path, list(message.options.Extensions[_OF_MESSAGE].tags))
        for field in message.field:
            entities.add(FIELD, (*path, field.name), list(field.options.Extensions[_OF_FIELD].tags))
    for nested in message.nested_type:
        _collect(nested, path, entities)
