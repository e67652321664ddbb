"""`/schemas`: what an id means. This is what every consumer asks, so nothing here is looked for."""

import re
from urllib.parse import unquote_plus

import orjson
from starlette.requests import Request
from starlette.responses import Response

from broker.registry import kinds
from broker.registry.errors import RegistryError
from broker.registry.guid import read_guid
from broker.registry.names import context_of, within
from broker.registry.operations import by_id
from broker.registry.records import content_fields
from broker.registry.registry import SchemaRegistry
from broker.registry.rest.answers import MEDIA_TYPE, answer, list_answer, version_fields
from broker.registry.rest.asking import context_in, flag, id_of, number, page, registry_of
from broker.registry.rest.subjects import is_meant, prefix_of
from broker.registry.schema import Content, Version

_LISTED_MAX = 1_000
_ID_DIGITS_MAX = 10
_JUST_SUBJECT = re.compile(rb"subject=[A-Za-z0-9%._~+:-]*")


def _found(request: Request) -> tuple[str, Content]:
    """Context and schema of the id."""
    subject = within(context_in(request), request.query_params.get("subject", ""))
    return by_id(registry_of(request), context_of(subject), subject, id_of(request))


def looked_up(registry: SchemaRegistry, context: str, rest: str, query: bytes) -> bytes | None:
    """The answer to what every consumer asks first, `/schemas/ids/{id}?subject=…`, without a router before it, which
    takes three times as long as the look itself. None for whatever is asked otherwise, or not there.
    """
    if not rest.isdecimal() or len(rest) > _ID_DIGITS_MAX or (query and not _JUST_SUBJECT.fullmatch(query)):
        return None
    subject = unquote_plus(query[len(b"subject=") :].decode("ascii"))
    content = registry.store.by_id(context_of(within(context, subject)), int(rest))
    return None if content is None else orjson.dumps(content_fields(content))


async def _text(request: Request, context: str, content: Content) -> str:
    form = request.query_params.get("format", "")
    if not form:
        return content.text
    parsed = await registry_of(request).parse(context, content, is_new=False)
    return parsed.formatted(form)


async def get_schema(request: Request) -> Response:
    context, content = _found(request)
    fields = content_fields(content)
    if request.query_params.get("format"):
        fields["schema"] = await _text(request, context, content)
    if flag(request, "fetchMaxId"):
        fields["maxId"] = registry_of(request).store.ids_max(context)
    return answer(fields)


async def get_schema_text(request: Request) -> Response:
    context, content = _found(request)
    return Response((await _text(request, context, content)).encode(), media_type=MEDIA_TYPE)


def _places(request: Request) -> list[Version]:
    context, _ = _found(request)
    found = registry_of(request).store.places(context, id_of(request))
    subject = request.query_params.get("subject")
    if subject:
        wanted = within(context_in(request), subject)
        found = [item for item in found if item.subject == wanted] or found
    return [version for version in found if flag(request, "deleted") or not version.deleted]


async def get_subjects(request: Request) -> Response:
    return list_answer(page(request, sorted({place.subject for place in _places(request)})))


async def get_versions(request: Request) -> Response:
    places = sorted((place.subject, place.version) for place in _places(request))
    return list_answer(page(request, [{"subject": subject, "version": version} for subject, version in places]))


def _ids_of_guid(request: Request) -> list[tuple[str, int]]:
    """Raises RegistryError for what is no GUID of a schema here."""
    guid = read_guid(request.path_params["guid"])
    found = registry_of(request).store.ids_of_guid(guid) if guid is not None else []
    if not found:
        raise RegistryError(40403, f"Schema with guid {request.path_params['guid'][:100]} not found")
    return found


async def get_by_guid(request: Request) -> Response:
    (context, schema_id), *_ = _ids_of_guid(request)
    content = registry_of(request).store.by_id(context, schema_id)
    assert content is not None
    fields = content_fields(content)
    if request.query_params.get("format"):
        fields["schema"] = await _text(request, context, content)
    return answer(fields)


async def get_ids_of_guid(request: Request) -> Response:
    return list_answer(
        page(request, [{"context": context, "id": schema_id} for context, schema_id in _ids_of_guid(request)])
    )


async def get_types(_request: Request) -> Response:
    return answer(sorted(kinds.TYPES, key=("JSON", "PROTOBUF", "AVRO").index))


async def list_schemas(request: Request) -> Response:
    """At most a thousand at once; `offset` goes on."""
    deleted, latest_only, prefix = flag(request, "deleted"), flag(request, "latestOnly"), prefix_of(request)
    offset, limit = max(0, number(request, "offset", 0)), number(request, "limit", _LISTED_MAX)
    limit = limit if 0 <= limit <= _LISTED_MAX else _LISTED_MAX
    found: list[Version] = []
    for subject, versions in registry_of(request).store.subjects():
        if is_meant(subject, prefix):
            shown = [version for version in versions if deleted or not version.deleted]
            found += shown[-1:] if latest_only else shown
        if len(found) >= offset + limit:
            break
    return list_answer(version_fields(version) for version in found[offset : offset + limit])


async def list_contexts(request: Request) -> Response:
    return list_answer(page(request, registry_of(request).store.contexts()))
