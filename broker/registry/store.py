"""The registry's state, by replay of `_schemas`: the same records give the same state. Pure.

Nothing changes it but `apply`. Each record is applied as it stands, for a compacted topic shows the end of a story
without its beginning: a version may be gone for good without a word of its soft deletion.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from sys import getsizeof
from typing import TypeVar
from uuid import UUID

import orjson

from broker.registry.guid import guid_of
from broker.registry.names import context_of, within
from broker.registry.records import (
    ClearSubjectKey,
    CompatibilityKey,
    ContextKey,
    DeleteSubjectKey,
    IdsKey,
    Key,
    ModeKey,
    NoopKey,
    SchemaKey,
    Value,
    config_of,
    encode_key,
    mode_of,
    version_of,
)
from broker.registry.schema import Content, Version

#: Of memory, for each reference, for each character of a setting's JSON, and for each setting besides.
_REFERENCE_BYTES, _SETTING_FACTOR, _SETTING_BYTES = 300, 20, 500

Place = tuple[str, int]
Setting = TypeVar("Setting")


@dataclass
class _KnownSchema:
    """A schema of a context and every version that it is."""

    content: Content
    guid: UUID | None
    places: dict[Place, None] = field(default_factory=dict)


@dataclass
class _ContextIds:
    by_id: dict[int, _KnownSchema] = field(default_factory=dict)
    ids: dict[Content, int] = field(default_factory=dict)
    #: The highest id that was ever given, and what of it is written where compaction leaves it.
    ids_max: int = 0
    ids_kept: int = 0


class SchemaStore:
    """Looks that answer at once: an id is one look into a dictionary."""

    def __init__(self) -> None:
        self._contexts: dict[str, _ContextIds] = {}
        self._subjects: dict[str, dict[int, Version]] = {}
        #: Subjects whose versions came in another order: they are put in order when they are next looked at.
        self._unordered: set[str] = set()
        #: Contexts and ids of the schemas of a GUID.
        self._guids: dict[UUID, dict[tuple[str, int], None]] = {}
        self._referrers: dict[Place, dict[Place, None]] = {}
        self._configs: dict[str, Value] = {}
        self._modes: dict[str, str] = {}
        #: Those with a record of their own, by which other registries know them.
        self._written_contexts: set[str] = set()
        self._foreign_keys: dict[Key, set[bytes]] = {}
        #: Of all versions, softly deleted ones too.
        self.version_count = 0
        #: What schemas with their metadata and rules, and settings, take of memory.
        self.held_bytes = 0

    # -- replay

    def apply(self, key: Key, value: Value | None, written: bytes | None = None, timestamp_ms: int = 0) -> str:
        """Apply a record.

        Return why it is invalid, in which case nothing changed; else an empty text. `written`: the key's bytes.
        """
        if written is not None and written != encode_key(key):
            self._foreign_keys.setdefault(key, set()).add(written)
        match key:
            case SchemaKey():
                return self._apply_schema(key, value, timestamp_ms)
            case CompatibilityKey(subject):
                return self._apply_setting(self._configs, subject, config_of, value)
            case ModeKey(subject):
                return self._apply_setting(self._modes, subject, mode_of, value)
            case DeleteSubjectKey(subject):
                self._delete_softly(subject, value)
            case ClearSubjectKey(subject):
                for version in [version for version in self.versions(subject, deleted=True) if version.deleted]:
                    self._forget((subject, version.version))
            case ContextKey(context):
                if value is not None:
                    self._context(context)
                    self._written_contexts.add(context)
                elif not self.has_versions(context):
                    self._contexts.pop(context, None)
                    self._written_contexts.discard(context)
            case IdsKey(context):
                self._apply_ids(self._context(context), value)
            case NoopKey():
                pass
        return ""

    def _apply_schema(self, key: SchemaKey, value: Value | None, timestamp_ms: int) -> str:
        if value is None:
            self._forget((key.subject, key.version))
            return ""
        try:
            version = version_of(value)
        except ValueError as error:
            return f"its value cannot be read: {error}"
        if (version.subject, version.version) != (key.subject, key.version):
            return "its value speaks of another version than its key"
        context = self._context(context_of(version.subject))
        known = context.by_id.get(version.id)
        others = known and (known.places.keys() - {(version.subject, version.version)})
        if known and others and known.content != version.content:
            return f"its id {version.id} is that of another schema"
        self._forget((key.subject, key.version))
        self._remember(context, replace(version, timestamp_ms=timestamp_ms))
        return ""

    def _remember(self, context: _ContextIds, version: Version) -> None:
        place = (version.subject, version.version)
        known = context.by_id.get(version.id)
        if known is None:
            known = context.by_id[version.id] = _KnownSchema(version.content, guid_of(version.content))
            if known.guid is not None:
                self._guids.setdefault(known.guid, {})[context_of(version.subject), version.id] = None
            context.ids.setdefault(version.content, version.id)
            self.held_bytes += memory_of(version.content)
        known.places[place] = None
        context.ids_max = max(context.ids_max, version.id)
        versions = self._subjects.setdefault(version.subject, {})
        is_last = not versions or version.version > next(reversed(versions))
        versions[version.version] = replace(version, content=known.content)
        if not is_last:
            self._unordered.add(version.subject)
        for meant in _meant(version):
            self._referrers.setdefault(meant, {})[place] = None
        self.version_count += 1

    def _forget(self, place: Place) -> None:
        subject, number = place
        version = self._subjects.get(subject, {}).pop(number, None)
        if version is None:
            return
        self.version_count -= 1
        if not self._subjects[subject]:
            del self._subjects[subject]
            self._unordered.discard(subject)
        context = self._context(context_of(subject))
        known = context.by_id[version.id]
        known.places.pop(place, None)
        if not known.places:
            del context.by_id[version.id]
            self.held_bytes -= memory_of(known.content)
            self._forget_guid(known.guid, (context_of(subject), version.id))
            if context.ids.get(known.content) == version.id:
                del context.ids[known.content]
        for meant in _meant(version):
            referrers = self._referrers.get(meant, {})
            referrers.pop(place, None)
            if not referrers:
                self._referrers.pop(meant, None)

    def _forget_guid(self, guid: UUID | None, place: tuple[str, int]) -> None:
        if guid is not None and (places := self._guids.get(guid)):
            places.pop(place, None)
            if not places:
                del self._guids[guid]

    def _delete_softly(self, subject: str, value: Value | None) -> None:
        last = value.get("version") if value else None
        versions = self._subjects.get(subject, {})
        for number, version in versions.items():
            if isinstance(last, int) and number <= last:
                versions[number] = replace(version, deleted=True)

    def _apply_ids(self, context: _ContextIds, value: Value | None) -> None:
        highest = value.get("maxId") if value else None
        if isinstance(highest, int):
            context.ids_kept = max(context.ids_kept, highest)
            context.ids_max = max(context.ids_max, highest)

    def _apply_setting(
        self,
        table: dict[str, Setting],
        subject: str,
        read: Callable[[Value | None], Setting | None],
        value: Value | None,
    ) -> str:
        """Apply a scope's setting, or remove it for a tombstone. Return why a value cannot be read; the earlier one
        then stays.
        """
        try:
            setting = read(value)
            held_bytes = memory_of_setting(setting)
        except (ValueError, TypeError) as error:
            return f"its value cannot be read: {error}"
        self.held_bytes += held_bytes - memory_of_setting(table.pop(subject, None))
        if setting is not None:
            table[subject] = setting
        return ""

    def _context(self, name: str) -> _ContextIds:
        return self._contexts.setdefault(name, _ContextIds())

    # -- looks

    def contexts(self) -> list[str]:
        return sorted(self._contexts.keys() | {"."})

    def has_versions(self, context: str) -> bool:
        """Return whether the context has a version, softly deleted ones too."""
        known = self._contexts.get(context)
        return bool(known and known.by_id)

    def is_written(self, context: str) -> bool:
        """Return whether a record names the context."""
        return context in self._written_contexts

    def subjects(self) -> Iterator[tuple[str, Iterable[Version]]]:
        """Yield every subject with a version, also softly deleted ones, sorted by name."""
        for subject in sorted(self._subjects):
            yield subject, self._in_order(subject).values()

    def _in_order(self, subject: str) -> dict[int, Version]:
        if subject in self._unordered:
            self._subjects[subject] = dict(sorted(self._subjects[subject].items()))
            self._unordered.discard(subject)
        return self._subjects.get(subject, {})

    def versions(self, subject: str, *, deleted: bool = False) -> list[Version]:
        """Return the subject's versions in order, softly deleted ones only if asked for.

        Empty for an unknown subject.
        """
        return [version for version in self._in_order(subject).values() if deleted or not version.deleted]

    def version(self, subject: str, number: int, *, deleted: bool = False) -> Version | None:
        stored = self._subjects.get(subject, {}).get(number)
        return stored if stored is not None and (deleted or not stored.deleted) else None

    def by_id(self, context: str, schema_id: int) -> Content | None:
        context_ids = self._contexts.get(context)
        known = context_ids.by_id.get(schema_id) if context_ids else None
        return known.content if known else None

    def places(self, context: str, schema_id: int) -> list[Version]:
        """Return the versions that are this schema, softly deleted ones too."""
        context_ids = self._contexts.get(context)
        known = context_ids.by_id.get(schema_id) if context_ids else None
        return [self._subjects[subject][number] for subject, number in known.places] if known else []

    def place(self, context: str, schema_id: int, subject: str = "") -> Version | None:
        """Return the newest version of the subject that is this schema; without a subject the first of any; else
        None.
        """
        in_context = self._contexts.get(context)
        known = in_context.by_id.get(schema_id) if in_context else None
        if known is None:
            return None
        if not subject:
            subject, number = next(iter(known.places))
            return self._subjects[subject][number]
        versions = self._in_order(subject)
        if len(versions) < len(known.places):  # a schema may be of many subjects, and a subject have many versions
            return next((version for version in reversed(versions.values()) if version.id == schema_id), None)
        numbers = [number for place, number in known.places if place == subject]
        return versions[max(numbers)] if numbers else None

    def ids_of_guid(self, guid: UUID) -> list[tuple[str, int]]:
        """Return contexts and ids under which the GUID is known."""
        return sorted(self._guids.get(guid, ()))

    def guid(self, context: str, schema_id: int) -> UUID | None:
        in_context = self._contexts.get(context)
        known = in_context.by_id.get(schema_id) if in_context else None
        return known.guid if known else None

    def id_of(self, context: str, content: Content) -> int | None:
        context_ids = self._contexts.get(context)
        return context_ids.ids.get(content) if context_ids else None

    def ids_max(self, context: str) -> int:
        """Return the highest id the context ever gave, also if its schema is gone."""
        context_ids = self._contexts.get(context)
        return context_ids.ids_max if context_ids else 0

    def ids_kept(self, context: str) -> int:
        """Return `ids_max` as far as records say so that outlive the schemas."""
        context_ids = self._contexts.get(context)
        return context_ids.ids_kept if context_ids else 0

    def referrers(self, subject: str, number: int, *, deleted: bool = False) -> list[Version]:
        """Return the versions that refer to this one."""
        places = self._referrers.get((subject, number), {})
        versions = [self._subjects[name][place] for name, place in places]
        return [version for version in versions if deleted or not version.deleted]

    def config(self, subject: str) -> Value | None:
        """Return the configuration set for exactly this subject; the global one for an empty name."""
        return self._configs.get(subject)

    def moded(self) -> list[str]:
        """Return every subject, context and the empty name with a mode of its own."""
        return list(self._modes)

    def mode(self, subject: str) -> str | None:
        return self._modes.get(subject)

    def written_keys(self, key: Key) -> list[bytes]:
        """Return the key bytes to write a tombstone under: ours, and other registries' spellings of the same key."""
        return [encode_key(key), *sorted(self._foreign_keys.get(key, ()))]


def _meant(version: Version) -> list[Place]:
    """Return the versions that its references name; a subject without a context is looked up in the schema's own."""
    context = context_of(version.subject)
    return [(within(context, reference.subject), reference.version) for reference in version.content.references]


def memory_of(content: Content) -> int:
    """Return the bytes of memory that a schema takes by its length: a character takes one to four."""
    texts = (content.text, content.metadata, content.rule_set)
    return sum(map(getsizeof, texts)) + _REFERENCE_BYTES * len(content.references)


def memory_of_setting(setting: object) -> int:
    """Return the memory of a setting; 0 for None, a scope without one."""
    return 0 if setting is None else _SETTING_BYTES + _SETTING_FACTOR * len(orjson.dumps(setting))
