"""What a request says: subject, version, switches and body, each checked where it is read."""

from typing import Any
from urllib.parse import unquote

import orjson
from starlette.requests import Request

from broker.common.limits import REGISTRY_BODY_BYTES_MAX
from broker.registry.data_contracts import ContractRequest, require_rule_set
from broker.registry.errors import RegistryError, unprocessable
from broker.registry.names import DEFAULT_CONTEXT, check_subject, within
from broker.registry.operations import SchemaRequest, aliased
from broker.registry.records import canonical_json, references_of, require_shallow
from broker.registry.registering import LATEST
from broker.registry.registry import SchemaRegistry
from broker.registry.rest.answers import tags_fields
from broker.registry.schema import AVRO, Content, Version
from broker.registry.tags import tag_changes


def registry_of(request: Request) -> SchemaRegistry:
    registry: SchemaRegistry = request.app.state.registry
    return registry


def context_in(request: Request) -> str:
    """Return the context in a path such as `/contexts/.x/…`."""
    context: str = request.scope.get("registry.context", DEFAULT_CONTEXT)
    return context


def subject_of(request: Request) -> str:
    """Return the subject of the path in its context, with aliases resolved. Raises RegistryError 42208."""
    registry = registry_of(request)
    subject = aliased(registry.store, within(context_in(request), unquote(request.path_params["subject"])))
    check_subject(subject, allows_empty=not registry.config.schema_reject_empty_subject)
    return subject


def is_in_context(request: Request) -> bool:
    """Return whether the path names a context, and be it the default one."""
    return bool(request.scope.get("registry.in_context"))


def scope_of(request: Request) -> str:
    """Return the scope: a subject, or a context as a whole; without a subject the global one."""
    text = request.path_params.get("subject")
    if text is None:
        context = context_in(request)
        return "" if context == DEFAULT_CONTEXT else f":{context}:"
    subject = within(context_in(request), unquote(text))
    if subject and not subject.endswith(":"):
        check_subject(subject)
    return subject


def flag(request: Request, name: str) -> bool:
    """Return a query flag; Python's clients write True."""
    return request.query_params.get(name, "").lower() == "true"


def number(request: Request, name: str, default: int) -> int:
    """Raises RegistryError 422."""
    text = request.query_params.get(name)
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise unprocessable(f"{name} is a number, not {text[:50]!r}") from None


def page(request: Request, listed: list[Any], limit_max: int | None = None) -> list[Any]:
    """Return the page of the list that `offset` and `limit` select."""
    offset, limit = max(0, number(request, "offset", 0)), number(request, "limit", -1)
    if limit_max is not None and not 0 <= limit <= limit_max:
        limit = limit_max
    return listed[offset:] if limit < 0 else listed[offset : offset + limit]


def version_of(request: Request) -> int | None:
    """Return the version's number; None for the latest. Raises RegistryError 42202."""
    text = request.path_params["version"]
    if text in ("latest", "-1"):
        return None
    if not text.isdecimal() or len(text) > 10 or not 0 < int(text) < 2**31:
        raise RegistryError(
            42202,
            f"The specified version '{text[:50]}' is not a valid version id. Allowed values are "
            'between [1, 2^31-1] and the string "latest"',
        )
    return int(text)


def id_of(request: Request) -> int:
    """Raises RegistryError 404, as for any path that nobody knows."""
    text = request.path_params["id"]
    if not text.isdecimal() or len(text) > 10:
        raise RegistryError(404, "HTTP 404 Not Found")
    return int(text)


async def bytes_of(request: Request) -> bytes:
    """Return the request's body, cached after the first call. Raises RegistryError 413."""
    if not hasattr(request.state, "body"):
        chunks, size = [], 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > REGISTRY_BODY_BYTES_MAX:
                raise RegistryError(413, f"The body is larger than {REGISTRY_BODY_BYTES_MAX} bytes")
            chunks.append(chunk)
        request.state.body = b"".join(chunks)
    body: bytes = request.state.body
    return body


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object that was sent. Raises RegistryError 413, 400, 422."""
    try:
        body = orjson.loads(await bytes_of(request) or b"{}")
    except ValueError as error:
        raise RegistryError(400, f"The body is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise unprocessable("The body is a JSON object")
    return body


async def asked_in(request: Request) -> SchemaRequest:
    """Return the parsed schema request, the same object each time. Unknown fields are ignored, as later clients send
    more.
    """
    if not hasattr(request.state, "parsed_schema_request"):
        request.state.parsed_schema_request = await _asked_in(request)
    parsed: SchemaRequest = request.state.parsed_schema_request
    return parsed


async def _asked_in(request: Request) -> SchemaRequest:
    body = await body_of(request)
    text, kind = body.get("schema") or "", body.get("schemaType") or AVRO
    if not isinstance(text, str) or not isinstance(kind, str):
        raise unprocessable("schema and schemaType are texts")
    try:
        references = references_of(body.get("references"))
    except ValueError as error:
        raise unprocessable(str(error)) from None
    metadata, rules = body.get("metadata"), body.get("ruleSet")
    if not isinstance(metadata, dict | None) or not isinstance(rules, dict | None):
        raise RegistryError(42210, "metadata and ruleSet are objects")
    for part in ("properties", "tags"):
        if not isinstance((metadata or {}).get(part), dict | None):
            raise RegistryError(42210, f"{part} of metadata are an object")
    try:
        require_shallow("metadata", metadata)
        require_shallow("ruleSet", rules)
    except ValueError as error:
        raise RegistryError(42210, str(error)) from None
    require_rule_set(rules)
    content = Content(kind.upper(), text, references, canonical_json(metadata), canonical_json(rules))
    normalize = flag(request, "normalize") if "normalize" in request.query_params else None
    number = _number(body, "version", -1)
    tags = tag_changes(body.get("schemaTagsToAdd"), body.get("schemaTagsToRemove"))
    if tags and number is None:
        number = LATEST
    return SchemaRequest(
        content,
        _number(body, "id", 1),
        number,
        normalize or None,
        flag(request, "force"),
        ContractRequest(metadata, rules, number or 0),
        tags,
        body.get("propagateSchemaTags") is True,
    )


async def schema_tags(request: Request, version: Version) -> dict[str, Any]:
    """Return `schemaTags` where the request looks for some (`findTags`). Raises InvalidSchema."""
    wanted = request.query_params.getlist("findTags")
    if not wanted:
        return {}
    registry = registry_of(request)
    parsed = await registry.parse_stored(version.subject, version.content)
    return {"schemaTags": tags_fields(await registry.think(parsed.inline_tags), wanted)}


def _number(body: dict[str, Any], name: str, least: int) -> int | None:
    value = body.get(name)
    if value is None or (isinstance(value, int) and value < least):
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise unprocessable(f"{name} is a number")
    return value
