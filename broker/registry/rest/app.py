"""The application: which path is whose, and what stands before all of them (context, login, errors)."""

from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from broker import __version__
from broker.client.logins import ClientLogins
from broker.common.configured_headers import WithHeaders
from broker.common.foreign_pages import NoForeignPages
from broker.common.hosts import counted_address
from broker.common.logs import logger
from broker.common.request_bodies import RETRY_LATER, BodiesFull, RequestBodies, SharedBodies
from broker.common.unread_answers import NO_ROOM, SharedAnswers, UnreadAnswers
from broker.registry.errors import RegistryError
from broker.registry.fair_pool import CLIENT
from broker.registry.names import DEFAULT_CONTEXT, context_named
from broker.registry.registry import NotLeader, SchemaRegistry
from broker.registry.rest import comparing, contexts, schemas, settings, subjects, tagging
from broker.registry.rest.answers import MEDIA_TYPE, answer, error_answer

_log = logger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]


async def nothing(_request: Request) -> Response:
    return answer({})


async def cluster_id(request: Request) -> Response:
    registry = request.app.state.registry
    clusters = {"schema-registry-cluster": registry.config.schema_registry_group_id}
    if registry.kafka_cluster_id:
        clusters = {"kafka-cluster": registry.kafka_cluster_id, **clusters}
    return answer({"scope": {"path": [], "clusters": clusters}, "id": ""})


async def deployment(request: Request) -> Response:
    return answer(
        {"attributes": list(request.app.state.registry.config.schema_registry_metadata_deployment_attributes)}
    )


async def version(_request: Request) -> Response:
    return answer({"version": __version__, "commitId": ""})


_BY_ID = "/schemas/ids/"
#: What is asked most comes first: the list is gone through from its beginning.
_ROUTES: tuple[tuple[str, str, Endpoint], ...] = (
    ("GET", "/schemas/ids/{id}", schemas.get_schema),
    ("POST", "/subjects/{subject}/versions", subjects.register_schema),
    ("POST", "/subjects/{subject}", subjects.look_up_schema),
    ("GET", "/subjects/{subject}/versions/{version}", subjects.get_version),
    ("GET", "/subjects", subjects.list_subjects),
    ("GET", "/subjects/{subject}/versions", subjects.list_versions),
    ("GET", "/refused-registrations", subjects.list_refusals),
    ("GET", "/subjects/{subject}/metadata", subjects.get_metadata),
    ("DELETE", "/subjects/{subject}", subjects.delete_subject),
    ("DELETE", "/subjects/{subject}/versions/{version}", subjects.delete_version),
    ("GET", "/subjects/{subject}/versions/{version}/schema", subjects.get_version_text),
    ("GET", "/subjects/{subject}/versions/{version}/referencedby", subjects.get_referrers),
    ("POST", "/subjects/{subject}/versions/{version}/tags", tagging.tag_version),
    ("GET", "/schemas", schemas.list_schemas),
    ("GET", "/schemas/types", schemas.get_types),
    ("GET", "/schemas/ids/{id}/schema", schemas.get_schema_text),
    ("GET", "/schemas/ids/{id}/subjects", schemas.get_subjects),
    ("GET", "/schemas/ids/{id}/versions", schemas.get_versions),
    ("GET", "/schemas/guids/{guid}", schemas.get_by_guid),
    ("GET", "/schemas/guids/{guid}/ids", schemas.get_ids_of_guid),
    ("GET", "/contexts", contexts.list_contexts),
    ("DELETE", "/contexts/{context}", contexts.delete_context),
    ("POST", "/compatibility/subjects/{subject}/versions/{version}", comparing.with_version),
    ("POST", "/compatibility/subjects/{subject}/versions", comparing.with_all),
    ("GET", "/config", settings.get_config),
    ("PUT", "/config", settings.put_config),
    ("DELETE", "/config", settings.delete_config),
    ("GET", "/config/{subject}", settings.get_config),
    ("PUT", "/config/{subject}", settings.put_config),
    ("DELETE", "/config/{subject}", settings.delete_config),
    ("GET", "/mode", settings.get_mode),
    ("PUT", "/mode", settings.put_mode),
    ("DELETE", "/mode", settings.delete_mode),
    ("GET", "/mode/{subject}", settings.get_mode),
    ("PUT", "/mode/{subject}", settings.put_mode),
    ("DELETE", "/mode/{subject}", settings.delete_mode),
    ("GET", "/v1/metadata/id", cluster_id),
    ("GET", "/v1/metadata/version", version),
    ("GET", "/v1/metadata/deployment", deployment),
    ("GET", "/version", version),
    ("GET", "/", nothing),
    ("POST", "/", nothing),
)


def make_app(
    registry: SchemaRegistry,
    logins: ClientLogins | None = None,
    bodies: RequestBodies | None = None,
    answers: UnreadAnswers | None = None,
) -> ASGIApp:
    routes = [Route(path, endpoint, methods=[method]) for method, path, endpoint in _ROUTES]
    handlers = {
        RegistryError: _refused,
        HTTPException: _no_such_path,
        NotLeader: _not_leader,
        BodiesFull: _bodies_full,
        ClientDisconnect: _client_gone,
        Exception: _failed,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.registry = registry
    locked = _BeforeAll(SharedBodies(app, bodies), registry, logins)
    counted: ASGIApp = SharedAnswers(locked, _retry_later(NO_ROOM), answers)
    if registry is not None and registry.config.response_headers:
        counted = WithHeaders(counted, registry.config.response_headers)
    return NoForeignPages(counted, is_locked=logins is not None)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RegistryError)
    return error_answer(error)


async def _no_such_path(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_answer(RegistryError(error.status_code, f"HTTP {error.status_code} {error.detail}"))


async def _not_leader(_request: Request, _error: Exception) -> Response:
    return error_answer(RegistryError(50004, "No registry leads at the moment; try again"))


async def _bodies_full(_request: Request, error: Exception) -> Response:
    return _retry_later(str(error))


async def _client_gone(_request: Request, _error: Exception) -> Response:
    """Return an empty response for a client that hung up, without a traceback in the log for each."""
    return Response(status_code=400)


def _retry_later(sentence: str) -> Response:
    refusal = error_answer(RegistryError(50301, sentence))
    refusal.headers.update(RETRY_LATER)
    return refusal


async def _failed(request: Request, error: Exception) -> Response:
    _log.error("request failed", method=request.method, path=request.url.path, exc_info=error)
    return error_answer(RegistryError(500, "The registry failed; its log says how"))


class _BeforeAll:
    """Paths are looked at as they were sent: a subject may have a slash in it, as %2F."""

    def __init__(self, app: ASGIApp, registry: SchemaRegistry, logins: ClientLogins | None):
        self._app = app
        self._registry = registry
        self._logins = logins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._logins is not None and not await self._logins.admit(scope):
            refusal = RegistryError(40101, "User cannot be authenticated")
            await error_answer(refusal)(scope, receive, send)
            return
        whole = scope["raw_path"].decode("ascii", "replace").partition("?")[0]
        path = whole.rstrip("/") or "/"
        named, slash, rest = path.removeprefix("/contexts/").partition("/")
        context, is_in_context = DEFAULT_CONTEXT, path.startswith("/contexts/") and bool(slash)
        if is_in_context:
            context, path = context_named(unquote(named)), slash + rest
        if path.startswith(_BY_ID) and scope["method"] == "GET":
            response = schemas.looked_up(self._registry, context, path[len(_BY_ID) :], scope["query_string"])
            if response is not None:
                await _send(send, response)
                return
        CLIENT.set(counted_address((scope.get("client") or ("",))[0]))
        scope = {**scope, "path": path, "registry.context": context, "registry.in_context": is_in_context}
        scope["registry.path"] = whole
        await self._app(scope, receive, send)


async def _send(send: Send, body: bytes) -> None:
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
