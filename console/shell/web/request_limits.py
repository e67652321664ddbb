"""What no page of ours sends is refused before anything is kept of it: bodies without end, and NUL in an address.

Django itself writes a body to the disk, of whatever length and before it asks who sends it; PostgreSQL fails on NUL.
Programs are told in JSON, as they are of everything else.
"""

import json

from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGIReceiveEvent,
    ASGISendCallable,
    HTTPResponseBodyEvent,
    HTTPResponseStartEvent,
    Scope,
    WebSocketCloseEvent,
    WWWScope,
)
from django.conf import settings

#: The largest form is a record to produce, of a megabyte as hex.
BODY_BYTES_MAX = 4 * 1024 * 1024
_API = "/api/v1/"
_NUL = "There is no such address."


class _TooLarge(Exception):
    """More came than may."""


class RequestLimits:
    def __init__(self, application: ASGI3Application):
        self._application = application

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif "\0" in scope["path"] or b"%00" in scope.get("query_string", b""):
            await _refuse(scope, receive, send, 400, _NUL)
        elif _announced(scope) > _bytes_max(scope):
            await _refuse_length(scope, receive, send)
        else:
            await self._counted(scope, receive, send)

    async def _counted(self, scope: WWWScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        came, bytes_max = 0, _bytes_max(scope)

        async def receive_counted() -> ASGIReceiveEvent:
            nonlocal came
            message = await receive()
            if message["type"] == "http.request":
                came += len(message.get("body", b""))
                if came > bytes_max:
                    raise _TooLarge
            return message

        try:
            await self._application(scope, receive_counted, send)
        except _TooLarge:
            await _refuse_length(scope, receive, send)


def _bytes_max(scope: WWWScope) -> int:
    """Return the size limit of a request's body: Django's for the API, which reads it in one piece."""
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE if _API in scope["path"] else BODY_BYTES_MAX


def _announced(scope: WWWScope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


async def _refuse_length(scope: WWWScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    await _refuse(scope, receive, send, 413, f"This is more than the console takes at once, {_bytes_max(scope)} bytes.")


async def _refuse(
    scope: WWWScope, receive: ASGIReceiveCallable, send: ASGISendCallable, status: int, sentence: str
) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send(WebSocketCloseEvent(type="websocket.close", code=1000, reason=None))
        return
    kind, body = b"text/plain", sentence
    if _API in scope["path"]:
        kind, body = b"application/problem+json", json.dumps({"status": status, "detail": sentence})
    headers = [(b"content-type", kind), (b"connection", b"close")]
    await send(HTTPResponseStartEvent(type="http.response.start", status=status, headers=headers, trailers=False))
    await send(HTTPResponseBodyEvent(type="http.response.body", body=body.encode(), more_body=False))
