"""REST that no page of somebody else's changes anything by.

A browser on a host where REST is open sends it what any page it shows wants sent, a form or a text, without asking
first; and says in `Origin` whose page that is. Programs say no `Origin`.
"""

from collections.abc import Collection

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_REFUSAL = {"error_code": 403, "message": "Pages of other origins change nothing here."}


class NoForeignPages:
    """403 for what is not only read, by a page from elsewhere; `allowed` origins, `*` for all, are let in."""

    def __init__(self, app: ASGIApp, allowed: Collection[str] = ()):
        self._app = app
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in _SAFE and self._is_foreign(scope["headers"]):
            await JSONResponse(_REFUSAL, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_foreign(self, headers: Collection[tuple[bytes, bytes]]) -> bool:
        said = {name: value.decode("latin-1") for name, value in headers if name in (b"origin", b"host")}
        origin = said.get(b"origin")
        if origin is None or self._allowed & {"*", origin}:
            return False
        place = origin.partition("://")[2]
        return not place or place != said.get(b"host")
