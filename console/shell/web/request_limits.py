"""What no page of ours sends is refused before anything is kept of it: bodies without end, and NUL in an address.

Django itself writes a body to the disk, of whatever length and before it asks who sends it; PostgreSQL fails on NUL.
Programs are told in JSON, as they are of everything else.
"""

import json

from django.conf import settings

#: The largest form is a record to produce, of a megabyte as hex.
BODY_BYTES_MAX = 4 * 1024 * 1024
_API = "/api/v1/"
_NUL = "There is no such address."


class _TooLarge(Exception):
    """More came than may."""


class RequestLimits:
    def __init__(self, application):
        self._application = application

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
        elif "\0" in scope["path"] or b"%00" in scope.get("query_string", b""):
            await _refuse(scope, receive, send, 400, _NUL)
        elif _announced(scope) > _bytes_max(scope):
            await _refuse_length(scope, receive, send)
        else:
            await self._counted(scope, receive, send)

    async def _counted(self, scope, receive, send) -> None:
        came, bytes_max = 0, _bytes_max(scope)

        async def receive_counted() -> dict:
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


def _bytes_max(scope: dict) -> int:
    """What programs send is no form and is read as one piece, of which Django bounds the length."""
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE if _API in scope["path"] else BODY_BYTES_MAX


def _announced(scope: dict) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


async def _refuse_length(scope, receive, send) -> None:
    await _refuse(scope, receive, send, 413, f"This is more than the console takes at once, {_bytes_max(scope)} bytes.")


async def _refuse(scope, receive, send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close"})
        return
    kind, body = b"text/plain", sentence
    if _API in scope["path"]:
        kind, body = b"application/problem+json", json.dumps({"status": status, "detail": sentence})
    headers = [(b"content-type", kind), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
