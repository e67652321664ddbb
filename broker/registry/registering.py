"""From what somebody wants registered to the records that do it. Pure: what a text means was found out before."""

from collections.abc import Iterable
from dataclasses import replace

from broker.common.limits import REGISTRY_REFERENCES_MAX
from broker.common.security_limits import REGISTRY_REFERENCED_BYTES_MAX as _BYTES_MAX
from broker.registry.errors import InvalidSchema, RegistryError, not_permitted
from broker.registry.names import DEFAULT_CONTEXT, context_of, within
from broker.registry.records import ContextKey, RegistryRecord, SchemaKey, schema_record
from broker.registry.room import require_room_for_version
from broker.registry.schema import Content, NamedSchema, SchemaReference, Version
from broker.registry.store import SchemaStore

LATEST = -1


def resolved_references(store: SchemaStore, subject: str, content: Content) -> Content:
    """Return the content with version numbers in references to the latest version. Raises InvalidSchema."""
    return replace(content, references=tuple(_resolved(store, subject, reference) for reference in content.references))


def _resolved(store: SchemaStore, subject: str, reference: SchemaReference) -> SchemaReference:
    if reference.version != LATEST:
        return reference
    versions = store.versions(within(context_of(subject), reference.subject))
    if not versions:
        raise _leads_nowhere(reference)
    return replace(reference, version=versions[-1].version)


def referred(store: SchemaStore, context: str, content: Content, *, also_deleted: bool) -> tuple[NamedSchema, ...]:
    """Return all schemas it refers to, directly or not, each once and after its own references. Raises InvalidSchema.

    With `also_deleted` it is stored already, and keeps references from before there was a bound of their bytes.
    """
    schemas: dict[tuple[str, str, int], NamedSchema] = {}
    _collect(store, context, content, schemas, (), also_deleted)
    if not also_deleted and sum(len(named.content.text.encode()) for named in schemas.values()) > _BYTES_MAX:
        raise InvalidSchema(f"it refers to schemas of more than {_BYTES_MAX:,} bytes together; refer to fewer of them")
    return tuple(schemas.values())


def require_one_version(named: Iterable[NamedSchema]) -> None:
    """Raise InvalidSchema where one name means two versions (`reference.versions.strict`)."""
    versions: dict[str, int] = {}
    for schema in named:
        version = versions.setdefault(schema.name, schema.version)
        if version != schema.version:
            raise InvalidSchema(
                f'Conflicting reference versions for "{schema.name}": version {version} and version {schema.version}'
            )


def _collect(
    store: SchemaStore,
    context: str,
    content: Content,
    schemas: dict[tuple[str, str, int], NamedSchema],
    above: tuple[tuple[str, int], ...],
    also_deleted: bool,
) -> None:
    for reference in content.references:
        subject = within(context, reference.subject)
        key = (reference.name, subject, reference.version)
        if key in schemas:
            continue
        version = store.version(subject, reference.version, deleted=also_deleted)
        if version is None or (subject, reference.version) in above:
            raise _leads_nowhere(reference)
        _collect(
            store, context_of(subject), version.content, schemas, (*above, (subject, reference.version)), also_deleted
        )
        schemas[key] = NamedSchema(reference.name, version.content, subject, reference.version)
        if len(schemas) > REGISTRY_REFERENCES_MAX:
            raise InvalidSchema(f"it refers to more than {REGISTRY_REFERENCES_MAX} schemas")


def _leads_nowhere(reference: SchemaReference) -> InvalidSchema:
    return InvalidSchema(f'No schema reference found for subject "{reference.subject}" and version {reference.version}')


def live_version(store: SchemaStore, subject: str, content: Content, *, deleted: bool = False) -> Version | None:
    """Return the newest version of the subject that is this schema."""
    schema_id = store.id_of(context_of(subject), content)
    if schema_id is None:
        return None
    places = [place for place in store.places(context_of(subject), schema_id) if place.subject == subject]
    places = [place for place in places if deleted or not place.deleted]
    return max(places, key=lambda place: place.version, default=None)


def require_mode(subject: str, mode: str, schema_id: int | None) -> None:
    """Require that the mode allows the request: ids are all given by the client, or none are. Raises RegistryError
    42205.
    """
    takes_ids = mode in ("IMPORT", "FORWARD")
    if takes_ids is (schema_id is None):
        raise not_permitted(f"Subject {subject} is not in {'read-write' if takes_ids else 'import'} mode")


def registration(
    store: SchemaStore, subject: str, content: Content, *, mode: str, schema_id: int | None, number: int | None
) -> tuple[Version, list[RegistryRecord]]:
    """Return the version to be and its records, after `require_mode`.

    Raises RegistryError 42205, 42201 (see B2 of the rules: ids, explicit or next).
    """
    context = context_of(subject)
    all_versions = store.versions(subject, deleted=True)
    next_number = all_versions[-1].version + 1 if all_versions else 1
    number = _number(number, next_number, mode)
    known_id = store.id_of(context, content)
    require_room_for_version(store)
    if schema_id is None:
        schema_id = known_id if known_id is not None else store.ids_max(context) + 1
    else:
        _require_free(store, context, schema_id, content)
    version = Version(subject, number, schema_id, content)
    named = [] if context == DEFAULT_CONTEXT or store.is_written(context) else [_context_record(context)]
    return version, [*named, *_superseded(store, version), schema_record(version)]


def _context_record(context: str) -> RegistryRecord:
    """Return the record by which other registries know of a context."""
    return RegistryRecord(ContextKey(context), {"tenant": "default", "context": context})


def _number(number: int | None, following: int, mode: str) -> int:
    if number is None or number in (0, LATEST, following) or (mode in ("IMPORT", "FORWARD") and number > 0):
        return following if number is None or number <= 0 else number
    raise InvalidSchema(f"Version is not one more than previous version: {number} instead of {following}")


def _require_free(store: SchemaStore, context: str, schema_id: int, content: Content) -> None:
    present = store.by_id(context, schema_id)
    if not 0 < schema_id < 2**31 - 1:
        raise RegistryError(42207, f"{schema_id} can be no schema's id")
    if present is not None and present != content:
        raise not_permitted(f"Overwrite new schema with id {schema_id} is not permitted.")


def _superseded(store: SchemaStore, version: Version) -> list[RegistryRecord]:
    """Return tombstones of softly deleted versions of the same schema, which this one replaces, unless one is referred
    to.
    """
    return [
        RegistryRecord(SchemaKey(place.subject, place.version), None)
        for place in store.places(context_of(version.subject), version.id)
        if place.subject == version.subject
        and place.deleted
        and place.version != version.version
        and not store.referrers(place.subject, place.version, deleted=True)
    ]
