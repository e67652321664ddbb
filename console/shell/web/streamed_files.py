"""Files that are streamed to a person end with the login and the rights that they were begun with.

A list as CSV and an export of records are sent only as fast as the browser takes them: for hours, if it likes. A view
looks at rights before the first byte; here they are looked at again before a piece goes out, at most once a second.
So after a change a person is sent what was handed out before: one piece (256 KiB of an export, 500 lines of a list)
and what was sent within that second. A file that ends early breaks off, and the browser says that it is incomplete.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth import HASH_SESSION_KEY
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

from console.kit.access.rights import reach_of
from console.kit.common.current_cluster import bound
from console.kit.live.person_socket import refusal_now

#: How long a look at the login and the rights holds.
RECHECK_SECONDS = 1.0


class StreamEndedError(Exception):
    """The person may not be sent the rest."""


class StreamedFilesMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]):
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Watch a streamed response, which ends with its session. Streams of a program have no session:
        `shell/api/events.py` looks at their token itself.
        """
        response = self._get_response(request)
        if isinstance(response, StreamingHttpResponse) and HASH_SESSION_KEY in request.session:
            look = _AccessCheck({"user": request.user, "session": request.session, "reach": reach_of(request.user)})
            pieces: Any = response.streaming_content
            response.streaming_content = _watched_async(pieces, look) if response.is_async else _watched(pieces, look)
        return response


class _AccessCheck:
    """Whether the person may still be sent something, as of at most RECHECK_SECONDS ago."""

    def __init__(self, scope: dict[str, Any]):
        self._refusal, self._looked_s = bound(lambda: refusal_now(scope)), time.monotonic()

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._looked_s >= RECHECK_SECONDS

    def renew(self) -> None:
        """Raises StreamEndedError."""
        self._looked_s = time.monotonic()
        if self._refusal() is not None:
            raise StreamEndedError("The login or the rights changed while the file was sent.")


def _watched(pieces: Iterator[bytes], look: _AccessCheck) -> Iterator[bytes]:
    for piece in pieces:
        if look.is_due:
            look.renew()
        yield piece


async def _watched_async(pieces: AsyncIterator[bytes], look: _AccessCheck) -> AsyncIterator[bytes]:
    async for piece in pieces:
        if look.is_due:
            await sync_to_async(look.renew)()
        yield piece
