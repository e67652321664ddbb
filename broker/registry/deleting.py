"""What goes, softly or for good, and what of it must stay. Pure."""

from broker.registry.errors import RegistryError, subject_not_found, version_not_found
from broker.registry.names import context_of
from broker.registry.records import (
    CompatibilityKey,
    DeleteSubjectKey,
    IdsKey,
    ModeKey,
    RegistryRecord,
    SchemaKey,
    schema_record,
)
from broker.registry.schema import Version
from broker.registry.store import SchemaStore


def version_softly(store: SchemaStore, version: Version) -> list[RegistryRecord]:
    """Raises RegistryError 40406, 42206."""
    if version.deleted:
        raise RegistryError(
            40406,
            f"Subject '{version.subject}' Version {version.version} was soft deleted. "
            "Set permanent=true to delete permanently",
        )
    require_unreferenced(store, version, deleted=False)
    gone = Version(version.subject, version.version, version.id, version.content, deleted=True)
    records = [schema_record(gone)]
    if [item.version for item in store.versions(version.subject)] == [version.version]:
        records += _settings(store, version.subject)
    return records


def version_for_good(store: SchemaStore, version: Version) -> list[RegistryRecord]:
    """Raises RegistryError 40407, 42206."""
    if not version.deleted:
        raise RegistryError(
            40407,
            f"Subject '{version.subject}' Version {version.version} was not deleted first "
            "before being permanently deleted",
        )
    require_unreferenced(store, version, deleted=True)
    records = [*_ids_kept(store, version.subject), RegistryRecord(SchemaKey(version.subject, version.version), None)]
    if len(store.versions(version.subject, deleted=True)) == 1:
        records += _settings(store, version.subject)
    return records


def subject_softly(store: SchemaStore, subject: str) -> tuple[list[int], list[RegistryRecord]]:
    """Raises RegistryError 40401, 40404, 42206."""
    versions = store.versions(subject)
    if not versions:
        if store.versions(subject, deleted=True):
            raise RegistryError(
                40404, f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently"
            )
        raise subject_not_found(subject)
    for version in versions:
        require_unreferenced(store, version, deleted=False, within=subject)
    last = versions[-1].version
    deletion = RegistryRecord(DeleteSubjectKey(subject), {"subject": subject, "version": last})
    return [version.version for version in versions], [deletion, *_settings(store, subject)]


def subject_for_good(store: SchemaStore, subject: str) -> tuple[list[int], list[RegistryRecord]]:
    """Raises RegistryError 40401, 40405, 42206."""
    if store.versions(subject):
        raise RegistryError(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")
    versions = store.versions(subject, deleted=True)
    if not versions:
        raise subject_not_found(subject)
    for version in versions:
        require_unreferenced(store, version, deleted=True, within=subject)
    records = [RegistryRecord(SchemaKey(subject, version.version), None) for version in versions]
    records += [RegistryRecord(DeleteSubjectKey(subject), None), *_settings(store, subject)]
    return [version.version for version in versions], [*_ids_kept(store, subject), *records]


def find(store: SchemaStore, subject: str, number: int | None, *, deleted: bool) -> Version:
    """Return a version by its number, or the latest (None). Raises RegistryError 40401, 40402."""
    versions = store.versions(subject, deleted=deleted)
    if not versions:
        raise subject_not_found(subject)
    version = versions[-1] if number is None else store.version(subject, number, deleted=deleted)
    if version is None:
        raise version_not_found(number)
    return version


def require_unreferenced(store: SchemaStore, version: Version, *, deleted: bool, within: str = "") -> None:
    referrers = store.referrers(version.subject, version.version, deleted=deleted)
    if any(referrer.subject != within for referrer in referrers):
        raise RegistryError(
            42206,
            "One or more references exist to the schema "
            f"{{magic=1,keytype=SCHEMA,subject={version.subject},version={version.version}}}.",
        )


def _settings(store: SchemaStore, subject: str) -> list[RegistryRecord]:
    """Return tombstones of the subject's settings, which are deleted with it."""
    records = [RegistryRecord(CompatibilityKey(subject), None)] if store.config(subject) is not None else []
    return [*records, RegistryRecord(ModeKey(subject), None)] if store.mode(subject) is not None else records


def _ids_kept(store: SchemaStore, subject: str) -> list[RegistryRecord]:
    """Return records that keep the ids before their last version is deleted: after compaction nothing else shows that
    an id was given.
    """
    context = context_of(subject)
    highest = store.ids_max(context)
    return (
        [RegistryRecord(IdsKey(context), {"context": context, "maxId": highest})]
        if highest > store.ids_kept(context)
        else []
    )
