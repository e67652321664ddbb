"""Paths are cut where a slash stands, before what is quoted in them is read: a name may hold one (`%2F`)."""

from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send


class QuotedPaths:
    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["raw_path"].decode("ascii", "replace")
            scope = {**scope, "path": path.removesuffix("/") or "/"}  # Jersey's paths end with a slash or not
        await self._app(scope, receive, send)


def quoted_part(request: Request, name: str) -> str:
    """Return the path parameter `name` of the route."""
    return unquote(str(request.path_params[name]))
