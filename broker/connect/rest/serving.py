"""REST on a worker's listeners: http or https, with what browsers may ask of it, and logging apart if it is to be."""

import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import uvicorn
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from broker.client.logins import ClientLogins
from broker.client.rest_listeners import RestListener, RestTls, reached_by_others, read_listeners, read_tls
from broker.client.security.errors import ClientConfigError
from broker.common.configured_headers import WithHeaders
from broker.common.errors import StartupError
from broker.common.foreign_pages import NoForeignPages, OnlyOwnNames
from broker.common.header_rules import HeaderRule, read_rules
from broker.common.own_names import OwnNames, host_of
from broker.common.punctual_http import bounded_protocol
from broker.common.request_bodies import RETRY_LATER, SharedBodies
from broker.common.unread_answers import NO_ROOM, SharedAnswers
from broker.connect.rest.app import ConnectRest
from broker.connect.settings import WorkerSettings

_PORT = 8083
#: Nobody outside of this host is let in who was not named.
_HOST = "127.0.0.1"
_HTTPS = "listeners.https."
_METHODS = ("GET", "POST", "HEAD")


_REFUSAL = {"error_code": 401, "message": "User cannot access the resource."}
_NO_ROOM = JSONResponse({"error_code": 503, "message": NO_ROOM}, 503, RETRY_LATER)


class Locked:
    """Guards REST by a name and its password, for other workers of the group too."""

    def __init__(self, app: ASGIApp, logins: ClientLogins):
        self._app = app
        self._logins = logins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not await self._logins.admit(scope):
            await JSONResponse(_REFUSAL, 401, headers={"WWW-Authenticate": "Basic"})(scope, receive, send)
            return
        await self._app(scope, receive, send)


@dataclass(frozen=True)
class RestSettings:
    listeners: tuple[RestListener, ...]
    #: None: on the listeners, with everything else; empty: nowhere.
    admin: tuple[RestListener, ...] | None
    #: What other workers ask.
    advertised: RestListener
    tls: RestTls | None
    origins: tuple[str, ...]
    methods: tuple[str, ...]
    headers: tuple[HeaderRule, ...]
    #: By which REST is asked that asks for no login.
    names: OwnNames

    @property
    def client_tls(self) -> ssl.SSLContext | None:
        return self.tls.client if self.tls else None


def read_rest(settings: WorkerSettings) -> RestSettings:
    """Raises StartupError."""
    listeners = read_listeners(settings.listeners, _PORT, host=_HOST)
    rest_listeners: tuple[str, ...] | None = settings.admin_listeners
    admin = (
        read_listeners(rest_listeners, _PORT, "admin.listeners", _HOST)
        if rest_listeners
        else ()
        if rest_listeners is not None
        else None
    )
    schemes = {listener.scheme for listener in (*listeners, *(admin or ()))}
    # As Kafka: http among workers where there is a listener for it.
    scheme = settings.rest_advertised_listener or (
        "http" if "http" in {listener.scheme for listener in listeners} else ""
    )
    return RestSettings(
        listeners,
        admin,
        reached_by_others(listeners, scheme, "rest.advertised.listener"),
        _tls(settings.props) if "https" in schemes else None,
        settings.access_control_allow_origin,
        settings.access_control_allow_methods or _METHODS,
        read_rules(settings.response_http_headers_config),
        _names(settings, (*listeners, *(admin or ()))),
    )


def _names(settings: WorkerSettings, listeners: tuple[RestListener, ...]) -> OwnNames:
    """Return the worker's own host names; those of allowed origins count too."""
    origins = settings.access_control_allow_origin
    pages = (host_of(origin.partition("://")[2]) for origin in origins)
    own = (settings.rest_advertised_host_name, *pages, *(listener.host for listener in listeners))
    everybody = ("*",) if "*" in origins else ()
    return OwnNames("rest.allowed.hosts", (*settings.rest_allowed_hosts, *everybody), own)


def _tls(props: Mapping[str, str]) -> RestTls:
    """Return TLS settings: all of `listeners.https.ssl.…`, or else the `ssl.…` of the worker's clients."""
    own = {name.removeprefix(_HTTPS): text for name, text in props.items() if name.startswith(f"{_HTTPS}ssl.")}
    properties = own or props
    asks_for = properties.get("ssl.client.auth", "none").upper()
    if asks_for not in ("NONE", "REQUESTED", "REQUIRED"):
        raise StartupError(f"ssl.client.auth={asks_for.lower()} must be none, requested or required.")
    try:
        return read_tls(properties, asks_for)
    except ClientConfigError as error:
        raise StartupError(f"{error}.") from None


class RestSockets:
    """Taken before anything else starts. Raises StartupError."""

    def __init__(self, rest: RestSettings):
        self.rest = rest
        self.main = [(listener, _taken(listener)) for listener in rest.listeners]
        self.admin = [(name, _taken(name)) for name in rest.admin or ()]

    def worker_id(self, settings: WorkerSettings) -> str:
        """Return the host and port where other workers reach this one."""
        taken = next(taken for listener, taken in self.main if listener is self.rest.advertised)
        host, port = taken.getsockname()[:2]
        return f"{settings.rest_advertised_host_name or host}:{settings.rest_advertised_port or port}"


def _taken(where: RestListener) -> socket.socket:
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    try:
        return socket.create_server((where.host, where.port), family=family, backlog=128)
    except OSError as error:
        raise StartupError(f"REST cannot listen on {where.host}:{where.port}: {error.strerror}.") from None


class serving:
    """Each listener on a thread of its own."""

    def __init__(self, rest: ConnectRest, sockets: RestSockets, logins: ClientLogins | None):
        listeners = sockets.rest
        main = _guarded(rest.app(has_admin=listeners.admin is None), listeners, logins)
        admin = _guarded(rest.admin_app(), listeners, logins)
        self._served = [
            (_server_of(listener, app, listeners, logins), taken)
            for app, places in ((main, sockets.main), (admin, sockets.admin))
            for listener, taken in places
        ]
        self._threads = [
            threading.Thread(target=server.run, args=([taken],), name="rest", daemon=True)
            for server, taken in self._served
        ]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_error: object) -> None:
        for server, _ in self._served:
            server.should_exit = True
        for thread in self._threads:
            thread.join(5)
        for _, taken in self._served:
            taken.close()


def _guarded(app: ASGIApp, rest: RestSettings, logins: ClientLogins | None) -> ASGIApp:
    """Guard the API with a login; a browser's preflight request (CORS) passes without one."""
    app = NoForeignPages(app, rest.origins, is_locked=logins is not None)
    if logins:
        app = Locked(app, logins)
    if rest.origins:
        app = CORSMiddleware(
            app,
            allow_origins=rest.origins,
            allow_methods=rest.methods,
            allow_headers=("Authorization", "X-Requested-With"),
        )
    return WithHeaders(app, rest.headers) if rest.headers else app


def _server_of(where: RestListener, app: ASGIApp, rest: RestSettings, logins: ClientLogins | None) -> uvicorn.Server:
    """Return the server. Its host check is not needed where a password or a certificate keeps foreign pages out."""
    if where.scheme == "https":
        return _server(app, rest.tls)
    return _server(app if logins else OnlyOwnNames(app, rest.names), None)


def _server(app: ASGIApp, tls: RestTls | None) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            SharedAnswers(SharedBodies(app), _NO_ROOM),
            http=bounded_protocol(tls=tls.server if tls else None),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
    )
