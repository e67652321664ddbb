"""Answers as JSON, in the shapes of Confluent's registry."""

from typing import Any

import orjson
from starlette.responses import Response

from broker.registry.errors import RegistryError
from broker.registry.guid import guid_of
from broker.registry.records import content_fields
from broker.registry.schema import Version

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


def answer(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type=MEDIA_TYPE)


def error_answer(error: RegistryError) -> Response:
    headers = {"WWW-Authenticate": 'Basic realm="schema-registry"'} if error.status == 401 else None
    message = str(error).encode(errors="replace").decode()  # it may quote half of a character
    body = orjson.dumps({"error_code": error.code, "message": message})
    return Response(body, error.status, headers, MEDIA_TYPE)


def version_fields(version: Version, text: str | None = None) -> dict[str, Any]:
    """`text` in another form than that which is stored."""
    fields: dict[str, Any] = {"subject": version.subject, "version": version.version, "id": version.id}
    if (guid := guid_of(version.content)) is not None:
        fields["guid"] = str(guid)
    fields |= content_fields(version.content)
    if text is not None:
        fields["schema"] = text
    return fields | {"deleted": True} if version.deleted else fields


def registered_fields(version: Version) -> dict[str, Any]:
    """What a registration is answered: the id, and what was registered."""
    fields = version_fields(version)
    return {"id": fields.pop("id"), **{name: item for name, item in fields.items() if name != "subject"}}
