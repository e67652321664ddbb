"""REST for those alone who show a name and its password, other workers of the group included."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from broker.client.logins import Logins

_REFUSAL = {"error_code": 401, "message": "User cannot access the resource."}


class Locked:
    def __init__(self, app: ASGIApp, logins: Logins):
        self._app = app
        self._logins = logins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._logins.admits(scope["headers"]):
            await JSONResponse(_REFUSAL, 401, headers={"WWW-Authenticate": "Basic"})(scope, receive, send)
            return
        await self._app(scope, receive, send)
