"""The paths of Connect's REST API, each a function of the request, run on a thread so that none holds up another."""

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from broker.common.errors import ApiError, BarnabasError
from broker.common.logs import LEVELS, logger
from broker.common.request_bodies import RETRY_LATER, BodiesFull
from broker.config.definition import ConfigError
from broker.connect.api import ConnectError
from broker.connect.herder.descriptions import restarting, version_shown
from broker.connect.herder.errors import (
    BadRequest,
    ChangedMeanwhile,
    Forbidden,
    NoJson,
    NotFound,
    NotGroupLeader,
    RequestRefused,
    TooLong,
)
from broker.connect.herder.herder import REQUEST_TIMEOUT_S, Herder
from broker.connect.herder.validation import require_valid
from broker.connect.names import objection_to_name
from broker.connect.redaction import redacting
from broker.connect.rest.forwarding import Send, forward
from broker.connect.rest.health import health
from broker.connect.rest.offsets import ConnectorOffsets
from broker.connect.rest.plugin_paths import plugin_paths, texts_of
from broker.connect.rest.quoted_paths import QuotedPaths, quoted_part
from broker.connect.storage.records import TARGETS, logger_record
from broker.connect.traces import error_text, sentence_of, trace_of

#: A configuration is a few kilobytes; what is longer is none.
_BODY_BYTES_MAX = 1024 * 1024
_TASK_DIGITS_MAX = 10
_CREATE_FIELDS = frozenset({"name", "config", "initial_state"})
#: How often a patch is derived anew because another request was quicker.
_PATCH_TRIES = 10
_VERSION = {"version": "3.8.0-barnabas", "commit": "unknown"}
_log = logger("broker.connect")

#: Method, path, what answers, and its status.
Table = list[tuple[str, str, Callable[[Request, Any], Any], int]]


class ConnectRest:
    def __init__(self, herder: Herder, cluster_id: Callable[[], str], offsets: ConnectorOffsets, send: Send):
        """`send`: how another worker is asked."""
        self._herder, self._send = herder, send
        self._cluster_id = cluster_id
        self._offsets = offsets
        self._levels = herder.levels

    def app(self, *, has_admin: bool) -> ASGIApp:
        name = "/connectors/{name}"
        table: Table = [
            ("GET", "/health", lambda _r, _b: health(self._herder.group), 200),
            ("GET", "/", lambda _r, _b: {**_VERSION, "kafka_cluster_id": self._cluster_id()}, 200),
            ("GET", "/connectors", self._list, 200),
            ("POST", "/connectors", self._create, 201),
            ("GET", name, lambda r, _b: self._herder.info(_name(r)), 200),
            ("DELETE", name, lambda r, _b: self._herder.delete(_name(r)), 204),
            ("GET", f"{name}/config", lambda r, _b: self._herder.require(_name(r)), 200),
            ("PUT", f"{name}/config", self._put_config, 200),
            ("PATCH", f"{name}/config", self._patch_config, 200),
            ("GET", f"{name}/status", lambda r, _b: self._herder.status(_name(r)), 200),
            ("GET", f"{name}/tasks", self._tasks, 200),
            ("POST", f"{name}/tasks", self._put_tasks, 204),
            ("PUT", f"{name}/fence", lambda r, _b: self._fence(r), 204),
            ("GET", f"{name}/tasks/{{task}}/status", self._task_status, 200),
            ("POST", f"{name}/restart", self._restart, 204),
            ("POST", f"{name}/tasks/{{task}}/restart", self._restart_task, 204),
            ("PUT", f"{name}/pause", lambda r, _b: self._herder.set_target(_name(r), "PAUSED"), 202),
            ("PUT", f"{name}/resume", lambda r, _b: self._herder.set_target(_name(r), "STARTED"), 202),
            ("PUT", f"{name}/stop", lambda r, _b: self._herder.stop_connector(_name(r)), 204),
            ("GET", f"{name}/topics", self._topics, 200),
            ("PUT", f"{name}/topics/reset", self._reset_topics, 202),
            ("GET", f"{name}/offsets", lambda r, _b: self._offsets.get(_name(r)), 200),
            ("PATCH", f"{name}/offsets", lambda r, b: self._offsets.alter(_name(r), b), 200),
            ("DELETE", f"{name}/offsets", lambda r, _b: self._offsets.reset(_name(r)), 200),
            *plugin_paths(lambda: self._herder.settings),
        ]
        return self._of(table + self._admin_table() if has_admin else table)

    def admin_app(self) -> ASGIApp:
        return self._of(self._admin_table())

    def _admin_table(self) -> Table:
        return [
            ("GET", "/health", lambda _r, _b: health(self._herder.group), 200),
            ("GET", "/admin/loggers", self._loggers, 200),
            ("GET", "/admin/loggers/{logger}", self._logger, 200),
            ("PUT", "/admin/loggers/{logger}", self._set_logger, 200),
        ]

    def _of(self, table: Table) -> ASGIApp:
        by_path: dict[str, dict[str, tuple[Any, int]]] = {}
        for method, path, answer, status in table:
            by_path.setdefault(path, {})[method] = answer, status
        routes = [
            Route(path, self._endpoint(methods), methods=[*methods, "OPTIONS"]) for path, methods in by_path.items()
        ]
        return QuotedPaths(Starlette(routes=routes, exception_handlers={HTTPException: _http_error}))

    def _endpoint(self, methods: dict[str, tuple[Callable[[Request, Any], Any], int]]) -> Any:
        async def endpoint(request: Request) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            if method == "OPTIONS":
                return _options(methods)
            answer, status = methods[method]
            try:
                raw = request.state.raw = await _body(request)
                if raw and _media_type(request) not in ("", "application/json"):
                    raise NoJson("HTTP 415 Unsupported Media Type")
                body = _parsed(raw) if raw else None
                call = functools.partial(self._answered, request, raw, functools.partial(answer, request, body), status)
                with anyio.fail_after(REQUEST_TIMEOUT_S):
                    # Left behind when it hangs: a plugin that does must not keep others from being asked.
                    return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
            except TimeoutError:
                return _error(500, "Request timed out. The worker is busy with another operation")
            except BodiesFull as error:
                return _error(503, str(error), RETRY_LATER)
            except RequestRefused as error:
                return _error(error.status, str(error))

        return endpoint

    def _answered(self, request: Request, raw: bytes, answer: Callable[[], Any], status: int) -> Response:
        try:
            response = answer()
        except NotGroupLeader as error:
            return forward(self._send, request, raw, error.url)
        except RequestRefused as error:
            return _error(error.status, str(error))
        except BaseException as error:  # of a plugin, too
            return self._failed(request, error)
        if isinstance(response, Response):
            return response
        return Response(status_code=status) if response is None else JSONResponse(response, status)

    def _failed(self, request: Request, error: BaseException) -> Response:
        """Return one sentence; the log has the traceback. Neither shows what the connector's references stand for."""
        name = _name(request) if "name" in request.path_params else ""
        try:
            redaction = self._herder.redaction_of(name)
        except ConfigError as unreadable:
            return _error(500, str(unreadable))
        with redacting(redaction):
            if isinstance(error, ConnectError | BarnabasError):
                return _error(500, error_text(error))
            _log.error("request failed", path=request.url.path, exception=trace_of(error))
            return _error(500, sentence_of(error))

    def _list(self, request: Request, _body: Any) -> Any:
        names = sorted(self._herder.configurations.connectors)
        if "expand" not in request.query_params:
            return names
        wanted = set(request.query_params.getlist("expand")) & {"status", "info"}
        shown: dict[str, dict[str, Any]] = {}
        for name in names:
            try:
                ways = {"status": self._herder.status, "info": self._herder.info}
                shown[name] = {text: ways[text](name) for text in sorted(wanted)}
            except NotFound:
                continue
        return shown

    def _create(self, request: Request, body: Any) -> Any:
        if not isinstance(body, dict) or not isinstance(body.get("config"), dict):
            raise BadRequest("Cannot deserialize a connector of this body: it needs name and config")
        if unknown := sorted(body.keys() - _CREATE_FIELDS):
            raise BadRequest(f"Unrecognized field {unknown[0]!r}: a connector has {', '.join(sorted(_CREATE_FIELDS))}")
        config = texts_of(body["config"])
        name = str(body.get("name") or "").strip()
        _set_name(config, name)
        _check_name(name)
        target = str(body.get("initial_state") or "RUNNING").upper().replace("RUNNING", "STARTED")
        if target not in TARGETS:
            raise BadRequest(f"initial_state {body['initial_state']} is none of RUNNING, PAUSED, STOPPED")
        require_valid(config, self._herder.settings)
        self._herder.put_config(name, config, target=target if body.get("initial_state") else None, may_exist=False)
        return JSONResponse(self._herder.info(name), 201, headers=_location(request, name))

    def _put_config(self, request: Request, body: Any) -> Any:
        name = _name(request)
        config = texts_of(body)
        _set_name(config, name)
        return self._write(request, name, config)

    def _patch_config(self, request: Request, body: Any) -> Any:
        name = _name(request)
        if not isinstance(body, dict):
            raise BadRequest("A map of keys is needed")
        for _ in range(_PATCH_TRIES):
            base = self._herder.require(name)
            merged: dict[str, Any] = {**base, **body}
            try:
                return self._write(
                    request, name, texts_of({key: value for key, value in merged.items() if value is not None}), base
                )
            except ChangedMeanwhile:
                continue
        raise ChangedMeanwhile(name)

    def _write(
        self, request: Request, name: str, config: dict[str, str], base: dict[str, str] | None = None
    ) -> Response:
        _check_name(name)
        require_valid(config, self._herder.settings)
        is_new = self._herder.put_config(name, config, target=None, may_exist=True, base=base)
        return JSONResponse(
            self._herder.info(name),
            201 if is_new else 200,
            headers=_location(request, name) if is_new else {},
        )

    def _tasks(self, request: Request, _body: Any) -> Any:
        name = _name(request)
        self._herder.require(name)
        configs = self._herder.configurations.tasks.get(name, [])
        return [{"id": {"connector": name, "task": n}, "config": config} for n, config in enumerate(configs)]

    def _put_tasks(self, request: Request, body: Any) -> Any:
        """Store task configs sent by the worker that runs the connector."""
        self._require_worker(request)
        if not isinstance(body, list):
            raise BadRequest("A list of task configurations is needed")
        self._herder.put_tasks(_name(request), [texts_of(item) for item in body]).result()

    def _require_worker(self, request: Request) -> None:
        """Raises Refused for a request that no other worker of the group has signed."""
        if self._herder.sessions is None:
            raise RequestRefused(
                "Kafka Connect in standalone mode does not support externally setting task configurations."
            )
        self._herder.sessions.require(request.headers, request.state.raw)

    def _fence(self, request: Request) -> None:
        self._require_worker(request)
        if not self._herder.settings.is_exactly_once:
            raise RequestRefused("This worker does not take part in exactly-once sources")
        try:
            self._herder.fencing.round(_name(request))
        except ApiError as error:
            if error.code.retriable:
                raise
            # To the worker that asks, a refusal that waiting does not mend.
            raise Forbidden(error.message) from None

    def _task_status(self, request: Request, _body: Any) -> Any:
        name, task = _name(request), _task(request)
        config = self._herder.configurations.connectors.get(name)
        state = self._herder.states.states.get((name, task))
        if state is None or config is None:
            raise NotFound(f"No status found for task {name}-{task}")
        return {"id": task, **state.shown(), **version_shown(config)}

    def _restart(self, request: Request, _body: Any) -> Any:
        flags = {
            name: request.query_params.get(name, "false").lower() == "true" for name in ("includeTasks", "onlyFailed")
        }
        name = _name(request)
        self._herder.require(name, "Unknown connector: {}")
        scope = {"includes_tasks": flags["includeTasks"], "only_failed": flags["onlyFailed"]}
        status = self._herder.status(name) if any(flags.values()) else None
        self._herder.restart(name, **scope)
        return JSONResponse(restarting(status, **scope), 202) if status else None

    def _restart_task(self, request: Request, _body: Any) -> Any:
        self._herder.restart_task(_name(request), _task(request))

    def _topics(self, request: Request, _body: Any) -> Any:
        if not self._herder.settings.topic_tracking_enable:
            raise Forbidden("Topic tracking is disabled.")
        name = _name(request)
        return {name: {"topics": sorted(self._herder.states.topics.get(name, ()))}}

    def _reset_topics(self, request: Request, _body: Any) -> Any:
        settings = self._herder.settings
        if not settings.topic_tracking_enable:
            raise Forbidden("Topic tracking is disabled.")
        if not settings.topic_tracking_allow_reset:
            raise Forbidden("Topic tracking reset is disabled.")
        self._herder.forget_topics(_name(request))

    def _loggers(self, _request: Request, _body: Any) -> Any:
        return {name: self._levels.of(name) for name in self._levels.names()}

    def _logger(self, request: Request, _body: Any) -> Any:
        name = quoted_part(request, "logger")
        if not self._levels.knows(name):
            raise NotFound(f"Logger {name} not found.")
        return self._levels.of(name)

    def _set_logger(self, request: Request, body: Any) -> Any:
        """Set a logger's level here, or on every worker that is there now (KIP-976)."""
        level = body.get("level") if isinstance(body, dict) else None
        if level is None:
            raise BadRequest("Desired 'level' parameter was not specified in request.")
        level, name = str(level).upper(), quoted_part(request, "logger")
        if level not in LEVELS:
            raise NotFound(f"invalid log level '{level}'.")
        if obstacle := self._levels.obstacle(name):
            raise BadRequest(obstacle)
        if request.query_params.get("scope", "").lower() == "cluster":
            self._herder.config_log.put([logger_record(name, level)])
            return Response(status_code=204)
        return self._levels.set(name, level)


def _options(methods: Mapping[str, Any]) -> Response:
    heads = {"HEAD"} if "GET" in methods else set()
    return Response(headers={"Allow": ",".join(sorted({*methods, *heads, "OPTIONS"}))})


def _name(request: Request) -> str:
    return quoted_part(request, "name")


def _task(request: Request) -> int:
    """Raises NotFound for what is no number of a task; that of the connector itself is none."""
    number = quoted_part(request, "task")
    if not (number.isascii() and number.isdecimal() and len(number) <= _TASK_DIGITS_MAX):
        raise NotFound("HTTP 404 Not Found")
    return int(number)


def _set_name(config: dict[str, str], name: str) -> None:
    """Raises BadRequest where the configuration names another connector."""
    if config.setdefault("name", name) != name:
        raise BadRequest(
            f"Connector name configuration ({config['name']}) doesn't match connector name in the URL ({name})"
        )


def _check_name(name: str) -> None:
    if objection := objection_to_name(name):
        raise BadRequest(objection[0].upper() + objection[1:])


async def _body(request: Request) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _BODY_BYTES_MAX:
            raise TooLong(f"The body is longer than {_BODY_BYTES_MAX} bytes")
        parts.append(part)
    return b"".join(parts)


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _parsed(raw: bytes) -> Any:
    """Parse the JSON body. Refuse values that can be read but not be written again, as NaN or half a surrogate pair."""
    try:
        document = json.loads(raw)
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise BadRequest("The body is no JSON") from None
    return document


def _location(request: Request, name: str) -> dict[str, str]:
    return {"Location": f"{request.base_url}connectors/{quote(name, safe='')}"}


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error_code": status, "message": message}, status, headers)


async def _http_error(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _error(status, f"HTTP {status} {getattr(error, 'detail', '')}".strip())
