"""What converters ask of a registry, over REST: every answer that may be another later is a RetriableError."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import orjson

from broker.common.backoff import pause_after
from broker.connect.api import DataError, RetriableError
from broker.connect.converters.registry.settings import ConverterSettings
from broker.registry.schema import Content, NamedSchema, SchemaReference

#: Answers of a registry that is not well, or has no leader for now.
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
#: Not the record's fault, so nothing may be left out for it; but asking again at once is of no use.
_NOT_ALLOWED = frozenset({401, 403})
_TIMEOUT_S = 10.0
_ANSWER_BYTES_MAX = 8 * 1024 * 1024
#: Schemas that a schema refers to, with those they refer to.
_REFERENCES_MAX = 300
_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


@dataclass(frozen=True)
class RegisteredSchema:
    id: int
    content: Content


class TaskRegistryClient:
    """For one task, on its thread."""

    def __init__(self, settings: ConverterSettings, sleep: Callable[[float], None] = time.sleep):
        self._settings, self._sleep = settings, sleep
        headers = {"Accept": f"{_MEDIA_TYPE}, application/json", "Content-Type": _MEDIA_TYPE}
        login = None if settings.login is None else httpx2.BasicAuth(*settings.login.value.split(":", 1))
        verify: Any = settings.tls if settings.tls is not None else True
        self._client = httpx2.Client(
            headers=headers, auth=login, verify=verify, timeout=_TIMEOUT_S, follow_redirects=False, trust_env=False
        )

    def close(self) -> None:
        self._client.close()

    def register(self, subject: str, content: Content) -> int:
        """Return the id. Raises DataError if the registry refuses the schema, RetriableError if it does not answer."""
        return self._id_of("versions", subject, content)

    def look_up(self, subject: str, content: Content) -> int:
        """Return the id of a schema that must be there. Raises as `register`."""
        return self._id_of("", subject, content)

    def latest(self, subject: str) -> RegisteredSchema:
        response = self._ask("GET", f"/subjects/{quote(subject, safe='')}/versions/latest")
        return RegisteredSchema(_integer(response, "id"), _content(response))

    def by_id(self, schema_id: int) -> Content:
        return _content(self._ask("GET", f"/schemas/ids/{schema_id}"))

    def referred(self, content: Content) -> list[NamedSchema]:
        """Return all schemas that it refers to, dependencies first."""
        schemas: dict[tuple[str, str, int], NamedSchema] = {}
        self._refer(content, schemas, 0)
        return list(schemas.values())

    def _refer(self, content: Content, schemas: dict[tuple[str, str, int], NamedSchema], depth: int) -> None:
        for reference in content.references:
            key = reference.name, reference.subject, reference.version
            if key in schemas:
                continue
            if len(schemas) >= _REFERENCES_MAX or depth >= _REFERENCES_MAX:
                raise DataError(f"A schema that refers to more than {_REFERENCES_MAX} others")
            inner = _content(
                self._ask("GET", f"/subjects/{quote(reference.subject, safe='')}/versions/{reference.version}")
            )
            self._refer(inner, schemas, depth + 1)
            schemas[key] = NamedSchema(reference.name, inner, reference.subject, reference.version)

    def _id_of(self, what: str, subject: str, content: Content) -> int:
        body: dict[str, Any] = {"schema": content.text}
        if content.type != "AVRO":
            body["schemaType"] = content.type
        path = f"/subjects/{quote(subject, safe='')}" + (f"/{what}" if what else "")
        query = "?normalize=true" if self._settings.normalizes else ""
        return _integer(self._ask("POST", path + query, body), "id")

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Raises DataError for what the registry refuses, RetriableError if none of its addresses is well."""
        for attempt in range(self._settings.retries + 1):
            if attempt:
                longest = pause_after(attempt, self._settings.wait_ms, self._settings.wait_max_ms)
                self._sleep(random.uniform(longest / 2, longest) / 1000)
            reason = ""
            for url in self._settings.urls:
                try:
                    return self._request(method, url, path, body)
                except _Unwell as unwell:
                    reason = f"{url} {unwell}"
        raise RetriableError(f"The schema registry does not answer {method} {path}: {reason}")

    def _request(self, method: str, url: str, path: str, body: Mapping[str, Any] | None) -> Mapping[str, Any]:
        content = None if body is None else orjson.dumps(body)
        try:
            with self._client.stream(method, url + path, content=content) as answer:
                status, data = answer.status_code, _read(answer)
        except httpx2.HTTPError as error:
            raise _Unwell(f"is away: {type(error).__name__}") from None
        if status in _AGAIN:
            raise _Unwell(f"answers {status}")
        if status in _NOT_ALLOWED:
            raise RetriableError(f"The schema registry at {url} answers {status} to {method} {path}")
        try:
            document = orjson.loads(data)
        except ValueError:
            document = None
        if not isinstance(document, dict) or (status != 200 and not isinstance(document.get("error_code"), int)):
            raise _Unwell(f"answers {status}, not as a schema registry does")
        if status != 200:
            message = str(document.get("message"))[:500]
            raise DataError(f"The schema registry refuses {method} {path}: {message} ({document['error_code']})")
        return document


class _Unwell(Exception):
    """Errors of one address; another may be well."""


def _read(answer: httpx2.Response) -> bytes:
    data = bytearray()
    for chunk in answer.iter_bytes():
        data += chunk
        if len(data) > _ANSWER_BYTES_MAX:
            raise _Unwell(f"answers with more than {_ANSWER_BYTES_MAX} bytes")
    return bytes(data)


def _content(document: Mapping[str, Any]) -> Content:
    if not isinstance(document.get("schema"), str):
        raise DataError("The schema registry answers without a schema")
    try:
        references = tuple(
            SchemaReference(str(reference["name"]), str(reference["subject"]), int(reference["version"]))
            for reference in document.get("references") or ()
        )
    except (KeyError, TypeError, ValueError):
        raise DataError("The schema registry answers with references that are none") from None
    return Content(str(document.get("schemaType") or "AVRO"), document["schema"], references)


def _integer(document: Mapping[str, Any], name: str) -> int:
    value = document.get(name)
    if not isinstance(value, int) or not 0 <= value < 1 << 31:
        raise DataError(f"The schema registry answers without {name}")
    return value
