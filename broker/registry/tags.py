"""Tags within a schema's text: which entity gets or loses which. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from broker.common.limits import REGISTRY_MESSAGES_BYTES_MAX
from broker.registry.errors import InvalidSchema, unprocessable

TAGS = "confluent:tags"
RECORD, FIELD = "sr_record", "sr_field"
_PATH_LENGTH_MAX = 2_000


class TagEntity(NamedTuple):
    """`kind`: RECORD or FIELD. `path`: names with dots, in the way of the schema's type."""

    kind: str
    path: str


class TagChanges(NamedTuple):
    """`skips_missing`: entities that the schema lacks are passed over."""

    added: Mapping[TagEntity, Sequence[str]]
    removed: Mapping[TagEntity, Sequence[str]]
    skips_missing: bool = False

    @property
    def entities(self) -> list[TagEntity]:
        return list(dict.fromkeys((*self.added, *self.removed)))

    def applied(self, entity: TagEntity, tags: Iterable[object]) -> list[str]:
        """Return the tags of the entity after the changes: those that are added go behind the others."""
        every = dict.fromkeys([*map(str, tags), *self.added.get(entity, ())])
        gone = set(self.removed.get(entity, ()))
        return [tag for tag in every if tag not in gone]

    def require(self, entity: TagEntity) -> None:
        """Raise InvalidSchema for an entity that the schema lacks."""
        if not self.skips_missing:
            raise InvalidSchema(f"No matching path '{entity.path[:200]}' found in the schema")


def tag_changes(added: object, removed: object) -> TagChanges | None:
    """Return the changes of a request's two lists; None where it asks for none. Raises RegistryError 422."""
    changes = TagChanges(_entities(added), _entities(removed))
    return changes if changes.entities else None


def _entities(listed: object) -> dict[TagEntity, list[str]]:
    tags_of: dict[TagEntity, list[str]] = {}
    if not isinstance(listed, list | None):
        raise _unreadable()
    for item in listed or ():
        entity, tags = (item.get("schemaEntity"), item.get("tags")) if isinstance(item, dict) else (None, None)
        if not isinstance(entity, dict) or not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise _unreadable()
        path, kind = entity.get("entityPath"), str(entity.get("entityType") or FIELD).lower()
        if not isinstance(path, str) or len(path) > _PATH_LENGTH_MAX or kind not in (RECORD, FIELD):
            raise _unreadable()
        tags_of.setdefault(TagEntity(kind, path.removeprefix(".")), []).extend(tags)
    return tags_of


def _unreadable() -> Exception:
    return unprocessable("Tags are a list of objects with schemaEntity (entityPath, entityType) and tags")


class TaggedEntities:
    """The tags of a schema by their entities. Paths repeat the names of what is around them, so they have a budget."""

    def __init__(self) -> None:
        self.tags: dict[TagEntity, list[str]] = {}
        self._characters_left = REGISTRY_MESSAGES_BYTES_MAX

    def add(self, kind: str, parts: Sequence[str], tags: list[str]) -> None:
        """Add tags under the path of these parts. Raises InvalidSchema where paths are too long together."""
        if tags:
            self._characters_left -= sum(map(len, parts)) + len(parts)
            if self._characters_left < 0:
                raise InvalidSchema("the paths of its tags are too long together")
            self.tags[TagEntity(kind, ".".join(parts))] = tags


def put_tags(members: dict[str, Any], tags: list[str]) -> None:
    """Write the tags among the members of an Avro or a JSON schema; no tags leave no member."""
    if tags:
        members[TAGS] = tags
    else:
        members.pop(TAGS, None)


def tags_in(members: Mapping[str, Any]) -> list[str]:
    """Return the tags among the members; none where the member is no list."""
    tags = members.get(TAGS)
    return list(map(str, tags)) if isinstance(tags, list) else []
