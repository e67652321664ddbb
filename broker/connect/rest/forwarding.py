"""A request that another worker has to answer goes on to it, at most twice (A1)."""

import http.client
import ssl
from collections.abc import Callable
from urllib.parse import SplitResult, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from broker.client.logins import ClientLogins
from broker.common.security_limits import FORWARDED_ANSWER_BYTES_MAX

_TIMEOUT_S = 90.0
_NEXT = {None: "true", "true": "false"}


#: Of a worker: URL, method, path, body, headers → status and content. Raises OSError, HTTPException, AnswerTooLong for
#: what is longer than FORWARDED_ANSWER_BYTES_MAX.
Send = Callable[[str, str, str, bytes, dict[str, str]], tuple[int, bytes]]


def forward(send: Send, request: Request, body: bytes, url: str) -> Response:
    forwarded = request.query_params.get("forward")
    if forwarded not in _NEXT:
        return _error(409, "Cannot complete request because of a conflicting operation (e.g. worker rebalance)")
    if not url:
        return _error(
            409,
            "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.",
        )
    query = [(k, v) for k, v in request.query_params.multi_items() if k != "forward"]
    query.append(("forward", _NEXT[forwarded]))
    path = f"{request.scope.get('raw_path', request.url.path.encode()).decode()}?{urlencode(query)}"
    headers = {"Content-Type": "application/json"}
    if "authorization" in request.headers:
        headers["Authorization"] = request.headers["authorization"]
    try:
        status, content = send(url, request.method, path, body, headers)
    except (OSError, http.client.HTTPException) as error:
        return _error(500, f"IO Error trying to forward REST request: {error}")
    return Response(content, status, media_type="application/json" if content else None)


def sender(tls: ssl.SSLContext | None) -> Send:
    """Return a function that sends requests, with `tls` of https; None: the system's authorities. Redirects are not
    followed.
    """

    def send(url: str, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = _connection(urlsplit(url), tls)
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, _content(answer)
        finally:
            connection.close()

    return send


class AnswerTooLong(http.client.HTTPException):
    """Another worker answers with more than a worker has to say."""


def _content(answer: http.client.HTTPResponse) -> bytes:
    content = answer.read(FORWARDED_ANSWER_BYTES_MAX + 1)
    if len(content) > FORWARDED_ANSWER_BYTES_MAX:
        raise AnswerTooLong(f"The other worker's answer is longer than {FORWARDED_ANSWER_BYTES_MAX:,} bytes")
    return content


def _connection(where: SplitResult, tls: ssl.SSLContext | None) -> http.client.HTTPConnection:
    host = where.hostname or ""
    if where.scheme == "https":
        context = tls or ssl.create_default_context()
        return http.client.HTTPSConnection(host, where.port or 443, timeout=_TIMEOUT_S, context=context)
    return http.client.HTTPConnection(host, where.port or 80, timeout=_TIMEOUT_S)


def request_headers(logins: ClientLogins | None) -> dict[str, str]:
    """Return the headers of requests that a worker sends to another one itself."""
    return {"Content-Type": "application/json"} | ({"Authorization": logins.authorization} if logins else {})


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error_code": status, "message": message}, status)
