"""`/schemas`: what an id means. This is what every consumer asks, so nothing here is looked for."""

import re
from urllib.parse import unquote_plus

import orjson
from starlette.requests import Request
from starlette.responses import Response

from broker.registry import kinds
from broker.registry.errors import RegistryError
from broker.registry.guid import read_guid
from broker.registry.names import context_of, has_prefix, within
from broker.registry.operations import aliased, by_id
from broker.registry.records import has_rule_type
from broker.registry.registry import SchemaRegistry
from broker.registry.rest.answers import MEDIA_TYPE, answer, list_answer, version_fields
from broker.registry.rest.asking import context_in, flag, id_of, number, page, registry_of, schema_tags
from broker.registry.rest.subjects import prefix_of
from broker.registry.schema import Version

_LISTED_MAX = 1_000
_ID_DIGITS_MAX = 10
_JUST_SUBJECT = re.compile(rb"subject=[A-Za-z0-9%._~+:-]*")


def _version_asked_for(request: Request) -> Version:
    """Return the version that the id means. Raises RegistryError 40403."""
    store = registry_of(request).store
    subject = aliased(store, within(context_in(request), request.query_params.get("subject", "")))
    return by_id(store, subject, id_of(request))


def looked_up(registry: SchemaRegistry, context: str, rest: str, query: bytes) -> bytes | None:
    """Return the response to `/schemas/ids/{id}?subject=…`, which every consumer asks first, without a router before
    it, which takes three times as long as the look-up itself. None for other requests, or an unknown id.
    """
    if not rest.isdecimal() or len(rest) > _ID_DIGITS_MAX or (query and not _JUST_SUBJECT.fullmatch(query)):
        return None
    store = registry.store
    subject = aliased(store, within(context, unquote_plus(query[len(b"subject=") :].decode("ascii"))))
    try:
        version = by_id(store, subject, int(rest))
    except RegistryError:
        return None
    return orjson.dumps(version_fields(version, guid=store.guid(context_of(version.subject), version.id)))


async def _text(request: Request, version: Version) -> str:
    form = request.query_params.get("format", "")
    if not form:
        return version.content.text
    return (await registry_of(request).parse_stored(version.subject, version.content)).formatted(form)


async def get_schema(request: Request) -> Response:
    version = _version_asked_for(request)
    fields = version_fields(version, await _text(request, version)) | await schema_tags(request, version)
    context = context_of(version.subject)
    if request.query_params.get("referenceFormat") == "qualified":
        for reference in fields.get("references", ()):
            reference["subject"] = within(context, reference["subject"])
    if flag(request, "fetchMaxId"):
        fields["maxId"] = registry_of(request).store.ids_max(context)
    return answer(fields)


async def get_schema_text(request: Request) -> Response:
    version = _version_asked_for(request)
    return Response((await _text(request, version)).encode(), media_type=MEDIA_TYPE)


def _places(request: Request) -> list[Version]:
    own_version = _version_asked_for(request)
    places = registry_of(request).store.places(context_of(own_version.subject), own_version.id)
    subject = request.query_params.get("subject")
    if subject:
        wanted = within(context_in(request), subject)
        places = [place for place in places if place.subject == wanted] or places
    return [version for version in places if flag(request, "deleted") or not version.deleted]


async def get_subjects(request: Request) -> Response:
    return list_answer(page(request, sorted({place.subject for place in _places(request)})))


async def get_versions(request: Request) -> Response:
    places = sorted((place.subject, place.version) for place in _places(request))
    return list_answer(page(request, [{"subject": subject, "version": version} for subject, version in places]))


def _ids_of_guid(request: Request) -> list[tuple[str, int]]:
    """Raises RegistryError for what is no GUID of a schema here."""
    guid = read_guid(request.path_params["guid"])
    ids = registry_of(request).store.ids_of_guid(guid) if guid is not None else []
    if not ids:
        raise RegistryError(40403, f"Schema with guid {request.path_params['guid'][:100]} not found")
    return ids


async def get_by_guid(request: Request) -> Response:
    (context, schema_id), *_ = _ids_of_guid(request)
    version = registry_of(request).store.place(context, schema_id)
    assert version is not None
    fields = version_fields(version, await _text(request, version))
    return answer({name: value for name, value in fields.items() if name not in ("subject", "version", "id")})


async def get_ids_of_guid(request: Request) -> Response:
    return list_answer(
        page(request, [{"context": context, "id": schema_id} for context, schema_id in _ids_of_guid(request)])
    )


async def get_types(_request: Request) -> Response:
    return answer(sorted(kinds.TYPES, key=("JSON", "PROTOBUF", "AVRO").index))


async def list_schemas(request: Request) -> Response:
    """List schemas, at most a thousand; `offset` continues."""
    deleted, latest_only, prefix = flag(request, "deleted"), flag(request, "latestOnly"), prefix_of(request, "")
    rule_type = request.query_params.get("ruleType", "")
    offset, limit = max(0, number(request, "offset", 0)), number(request, "limit", _LISTED_MAX)
    limit = limit if 0 <= limit <= _LISTED_MAX else _LISTED_MAX
    listed: list[Version] = []
    for subject, versions in registry_of(request).store.subjects():
        if has_prefix(subject, prefix):
            shown = [version for version in versions if deleted or not version.deleted]
            shown = shown[-1:] if latest_only else shown
            listed += [version for version in shown if not rule_type or has_rule_type(version.content, rule_type)]
        if len(listed) >= offset + limit:
            break
    return list_answer(version_fields(version) for version in listed[offset : offset + limit])
