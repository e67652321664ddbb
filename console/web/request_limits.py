"""What no page of ours sends is refused before anything is kept of it: bodies without end, and NUL in an address.

Django itself writes a body to the disk, of whatever length and before it asks who sends it; PostgreSQL fails on NUL.
"""

#: The largest form is a record to produce, of a megabyte as hex.
BODY_BYTES_MAX = 4 * 1024 * 1024
_TOO_LARGE = b"This is more than a form of the console holds."
_NUL = b"There is no such address."


class _TooLarge(Exception):
    """More came than BODY_BYTES_MAX."""


class RequestLimits:
    def __init__(self, application):
        self._application = application

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
        elif "\0" in scope["path"] or b"%00" in scope.get("query_string", b""):
            await _refuse(scope, receive, send, 400, _NUL)
        elif _announced(scope) > BODY_BYTES_MAX:
            await _refuse(scope, receive, send, 413, _TOO_LARGE)
        else:
            await self._counted(scope, receive, send)

    async def _counted(self, scope, receive, send) -> None:
        came = 0

        async def receive_counted() -> dict:
            nonlocal came
            message = await receive()
            if message["type"] == "http.request":
                came += len(message.get("body", b""))
                if came > BODY_BYTES_MAX:
                    raise _TooLarge
            return message

        try:
            await self._application(scope, receive_counted, send)
        except _TooLarge:
            await _refuse(scope, receive, send, 413, _TOO_LARGE)


def _announced(scope: dict) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


async def _refuse(scope, receive, send, status: int, sentence: bytes) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close"})
        return
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence})
