"""Protects a REST API from requests of foreign web pages.

A browser on a host where REST is open sends it what any page it shows wants sent, a form or a text, without asking
first; and says in `Origin` whose page that is. Programs say no `Origin`. Who owns a name can have it stand for this
host as soon as the page is there (DNS rebinding): a page of our own address is ours, one of the same name is not,
and what is asked by a name that is none of ours is not even read (`own_names.py`).
"""

from collections.abc import Collection

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from broker.common.own_names import OwnNames, host_of, is_address

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_REFUSAL = {"error_code": 403, "message": "Pages of other origins change nothing here."}


class NoForeignPages:
    """403 for what is not only read, by a page from elsewhere; `allowed` origins, `*` for all, are let in.

    `is_locked`: nobody comes in without a password, which a page from elsewhere has not.
    """

    def __init__(self, app: ASGIApp, allowed: Collection[str] = (), *, is_locked: bool = False):
        self._app, self._is_locked = app, is_locked
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in _SAFE and self._is_foreign(scope["headers"]):
            await JSONResponse(_REFUSAL, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_foreign(self, headers: Collection[tuple[bytes, bytes]]) -> bool:
        headers_by_name = {name: value.decode("latin-1") for name, value in headers if name in (b"origin", b"host")}
        origin = headers_by_name.get(b"origin")
        if origin is None or self._allowed & {"*", origin}:
            return False
        place = origin.partition("://")[2]
        if not place or place != headers_by_name.get(b"host"):
            return True
        return not (self._is_locked or is_address(host_of(place)))


class OnlyOwnNames:
    """403 for what is asked by another name."""

    def __init__(self, app: ASGIApp, names: OwnNames):
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope["headers"] if scope["type"] == "http" else ()
        why = self._names.refusal(value.decode("latin-1") for name, value in headers if name == b"host")
        if why:
            await JSONResponse({"error_code": 403, "message": why}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)
