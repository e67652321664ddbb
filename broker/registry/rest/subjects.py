"""`/subjects`: what is registered under which name, registering and deleting."""

from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response

from broker.common.clock import SystemClock
from broker.registry import deleting
from broker.registry.errors import RegistryError, schema_not_found
from broker.registry.names import EVERY_CONTEXT, has_prefix, within
from broker.registry.operations import in_contexts, look_up, register, registered, require_known
from broker.registry.records import properties_of
from broker.registry.registry import Decision
from broker.registry.rest.answers import MEDIA_TYPE, answer, list_answer, registered_fields, version_fields
from broker.registry.rest.asking import (
    asked_in,
    context_in,
    flag,
    is_in_context,
    page,
    registry_of,
    schema_tags,
    subject_of,
    version_of,
)
from broker.registry.rest.forwarding import for_leader
from broker.registry.schema import Version
from broker.registry.settings import require_writable

_CLOCK = SystemClock()


def prefix_of(request: Request, default: str) -> str:
    """Return `subjectPrefix` in the context of the path; `default` without one."""
    prefix = request.query_params.get("subjectPrefix", "" if is_in_context(request) else default)
    return prefix if prefix.startswith(EVERY_CONTEXT) else within(context_in(request), prefix)


async def list_subjects(request: Request) -> Response:
    """List the subjects of every context, unless the path or the prefix names one."""
    deleted, only_deleted = flag(request, "deleted"), flag(request, "deletedOnly")
    prefix, subjects = prefix_of(request, EVERY_CONTEXT), []
    for subject, versions in registry_of(request).store.subjects():
        is_live = any(not version.deleted for version in versions)
        if has_prefix(subject, prefix) and (not is_live if only_deleted else is_live or deleted):
            subjects.append(subject)
    return list_answer(page(request, subjects))


async def list_versions(request: Request) -> Response:
    only_deleted, as_negative = flag(request, "deletedOnly"), flag(request, "deletedAsNegative")
    deleted = flag(request, "deleted") or only_deleted
    require_known(registry_of(request), subject_of(request), deleted=deleted)
    versions = registry_of(request).store.versions(subject_of(request), deleted=deleted or as_negative)
    if as_negative:
        numbers = [-version.version if version.deleted else version.version for version in versions]
    else:
        numbers = [version.version for version in versions if version.deleted or not only_deleted]
    return list_answer(page(request, numbers))


def _version(request: Request, *, deleted: bool = False) -> Version:
    """Return a version of the subject, or of one of its name in another context. Raises RegistryError 40401, 40402."""
    store, number = registry_of(request).store, version_of(request)
    own, *others = in_contexts(store, subject_of(request))
    for subject in (own, *others):
        with suppress(RegistryError):
            return deleting.find(store, subject, number, deleted=deleted)
    return deleting.find(store, own, number, deleted=deleted)


async def _text(request: Request, version: Version) -> str:
    """Return the text in the form that `format` names."""
    form = request.query_params.get("format", "")
    if not form:
        return version.content.text
    return (await registry_of(request).parse_stored(version.subject, version.content)).formatted(form)


async def get_version(request: Request) -> Response:
    version = _version(request, deleted=flag(request, "deleted"))
    return answer(version_fields(version, await _text(request, version)) | await schema_tags(request, version))


async def get_version_text(request: Request) -> Response:
    version = _version(request, deleted=flag(request, "deleted"))
    return Response((await _text(request, version)).encode(), media_type=MEDIA_TYPE)


async def get_referrers(request: Request) -> Response:
    version = _version(request, deleted=True)
    referrers = registry_of(request).store.referrers(version.subject, version.version, deleted=flag(request, "deleted"))
    return list_answer(page(request, sorted({version.id for version in referrers})))


async def get_metadata(request: Request) -> Response:
    """Return the latest version that has all these properties in its metadata."""
    registry = registry_of(request)
    wanted = dict(zip(request.query_params.getlist("key"), request.query_params.getlist("value"), strict=False))
    versions = require_known(registry, subject_of(request), deleted=flag(request, "deleted"))
    for version in reversed(versions):
        if version.content.metadata and wanted.items() <= properties_of(version.content).items():
            return answer(version_fields(version, await _text(request, version)))
    raise schema_not_found()


async def look_up_schema(request: Request) -> Response:
    registry = registry_of(request)
    version = await look_up(registry, subject_of(request), await asked_in(request), deleted=flag(request, "deleted"))
    return answer(version_fields(version, await _text(request, version)))


async def register_schema(request: Request) -> Response:
    schema_request = await asked_in(request)
    refusals, subject = registry_of(request).refusals, subject_of(request)
    try:
        version = await registered(registry_of(request), subject, schema_request)
        response = await _registered(request, version) if version is not None else await _register(request)
    except RegistryError as error:
        refusals.note(subject, error, request.client.host if request.client else "", _CLOCK.now_ms())
        raise
    refusals.forget(subject)
    return response


async def _registered(request: Request, version: Version) -> Response:
    return answer(registered_fields(version, await _text(request, version)))


@for_leader
async def _register(request: Request) -> Response:
    registry, subject, schema_request = registry_of(request), subject_of(request), await asked_in(request)
    with suppress(RegistryError):  # what is in its way is told by the turn, which decides on all that was written
        await register(registry, subject, schema_request)
    return await _registered(request, await registry.change(lambda: register(registry, subject, schema_request)))


@for_leader
async def list_refusals(request: Request) -> Response:
    """List subjects whose registrations were refused of late; a path of ours, which other registries do not have."""
    return list_answer(
        [
            {
                "subject": subject,
                "count": refused.count,
                "first": refused.first_ms,
                "last": refused.last_ms,
                "error_code": refused.code,
                "message": refused.message,
                "client": refused.client,
            }
            for subject, refused in registry_of(request).refusals.lately(_CLOCK.now_ms())
        ]
    )


@for_leader
async def delete_subject(request: Request) -> Response:
    registry, subject = registry_of(request), subject_of(request)
    deletes = deleting.subject_for_good if flag(request, "permanent") else deleting.subject_softly

    async def decide() -> Decision[list[int]]:
        require_writable(registry.store, subject)
        return deletes(registry.store, subject)

    return answer(await registry.change(decide))


@for_leader
async def delete_version(request: Request) -> Response:
    registry, subject, number = registry_of(request), subject_of(request), version_of(request)
    is_for_good = flag(request, "permanent")
    deletes = deleting.version_for_good if is_for_good else deleting.version_softly

    async def decide() -> Decision[int]:
        require_writable(registry.store, subject)
        # The latest is the latest that is there; a number may name one that went before.
        version = deleting.find(registry.store, subject, number, deleted=number is not None or is_for_good)
        return version.version, deletes(registry.store, version)

    return answer(await registry.change(decide))
