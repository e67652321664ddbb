"""Pages and answers of the API that are not read have one bound together, with a share for each address.

A list of the API has up to 10,000 rows, and a connection keeps its answer in memory until it is read: a thousand
connections of one viewer would take gigabytes. What is streamed is made as fast as it is read, and counts for nothing.
"""

from typing import Any

from broker.common.unread_answers import NO_ROOM, Receive, Scope, Send, SharedAnswers, UnreadAnswers

_BODY = f"{NO_ROOM}.\n".encode()
_HEADERS = [
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"content-length", str(len(_BODY)).encode()),
    (b"cache-control", b"no-store"),
    (b"retry-after", b"5"),
    (b"connection", b"close"),
]


def counted_pages(application: Any) -> SharedAnswers:
    return SharedAnswers(application, _refuse, UnreadAnswers(streamed=0))


async def _refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 503, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": _BODY})
