"""Answers as JSON, in the shapes of Confluent's registry."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any
from uuid import UUID

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from broker.common.security_limits import REST_BODY_UNCOUNTED_BYTES
from broker.common.unread_answers import is_refused
from broker.registry.errors import RegistryError
from broker.registry.guid import guid_of
from broker.registry.records import content_fields
from broker.registry.schema import Version
from broker.registry.tags import TaggedEntities

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


def answer(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type=MEDIA_TYPE)


def list_answer(entries: Iterable[Any]) -> Response:
    """Return a JSON list. A long one is encoded as fast as its client reads: schemas may have gigabytes together."""
    pieces = _pieces(entries)
    first, second = next(pieces), next(pieces, None)
    return Response(first, media_type=MEDIA_TYPE) if second is None else _LongList(chain((first, second), pieces))


def _pieces(entries: Iterable[Any]) -> Iterator[bytes]:
    """Yield the bytes of the list, some kilobytes or one entry at a time."""
    piece, comma = bytearray(b"["), b""
    for entry in entries:
        if len(piece) >= REST_BODY_UNCOUNTED_BYTES:
            yield bytes(piece)
            piece.clear()
        piece += comma + orjson.dumps(entry)
        comma = b","
    yield bytes(piece + b"]")


class _LongList(Response):
    """A list whose length is not known before. It ends early where its client would not receive more."""

    def __init__(self, pieces: Iterable[bytes]):
        self.status_code, self.background, self.media_type = 200, None, MEDIA_TYPE
        self._pieces = pieces
        self.init_headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for piece in self._pieces:
            if is_refused(scope) or await request.is_disconnected():
                return
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def error_answer(error: RegistryError) -> Response:
    headers = {"WWW-Authenticate": 'Basic realm="schema-registry"'} if error.status == 401 else None
    message = str(error).encode(errors="replace").decode()  # it may quote half of a character
    body = orjson.dumps({"error_code": error.code, "message": message})
    return Response(body, error.status, headers, MEDIA_TYPE)


def version_fields(version: Version, text: str | None = None, *, guid: UUID | None = None) -> dict[str, Any]:
    """Return a version as it is answered. text: it in another form than that which is stored. guid: where it is known.

    A version that was decided on just now has neither `ts` nor `deleted` yet. Where a schema is asked for by its id,
    Confluent's registry leaves the id out; confluent-kafka then keeps the schema without one, and cannot write with it.
    """
    content = version.content
    fields: dict[str, Any] = {"subject": version.subject, "version": version.version, "id": version.id}
    if (guid := guid or guid_of(content)) is not None:
        fields["guid"] = str(guid)
    fields |= {"schemaType": content.type} | content_fields(content)
    if text is not None:
        fields["schema"] = text
    if version.timestamp_ms:
        fields["ts"] = version.timestamp_ms
    return fields | {"deleted": version.deleted} if version.timestamp_ms or version.deleted else fields


def tags_fields(tags: TaggedEntities, wanted: Iterable[str]) -> list[dict[str, Any]]:
    """Return the tagged entities that have one of the wanted tags; `*` is every tag."""
    names = set(wanted)
    return [
        {"schemaEntity": {"entityPath": entity.path, "entityType": entity.kind}, "tags": names_of_tags}
        for entity, names_of_tags in tags.tags.items()
        if "*" in names or not names.isdisjoint(names_of_tags)
    ]


def registered_fields(version: Version, text: str | None = None) -> dict[str, Any]:
    """Return the fields of a registration's response: the id, and the registered content."""
    fields = version_fields(version, text)
    return {"id": fields.pop("id"), **{name: item for name, item in fields.items() if name != "subject"}}
