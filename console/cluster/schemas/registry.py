"""What the registry is asked, and its answers as values: whatever they lack or are instead, no page breaks by it."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from console.cluster.schemas.access import context_of
from console.cluster.schemas.client import RegistryAwayError, RegistryClient, registry_client
from console.kit.gateway.errors import RefusedError

LEVELS = ("BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE", "NONE")
MODES = ("READWRITE", "READONLY", "IMPORT")
TYPES = ("AVRO", "PROTOBUF", "JSON")
#: Names are looked at by everybody who types into the search.
NAMES_KEPT_S = 3.0
_REASON = re.compile(
    r"""\{errorType:["'](?P<kind>\w+)["'], description:(["'])(?P<sentence>.*?)\2(, additionalInfo:.*)?\}$"""
)
#: Of one schema, whatever a registry says.
REFERENCES_MAX = 100


@dataclass(frozen=True, slots=True)
class TextReference:
    name: str
    subject: str
    version: int

    @property
    def fields(self) -> dict[str, object]:
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class RegisteredText:
    """A text of one of TYPES. Of a version `subject`, `version` and `id` are known."""

    text: str
    type: str = "AVRO"
    references: tuple[TextReference, ...] = ()
    subject: str = ""
    version: int = 0
    id: int = 0

    @property
    def fields(self) -> dict[str, object]:
        """The fields as the registry expects them."""
        return {
            "schema": self.text,
            "schemaType": self.type,
            "references": [reference.fields for reference in self.references],
        }


@dataclass(frozen=True, slots=True)
class CompatibilityVerdict:
    is_compatible: bool
    messages: tuple[str, ...]

    @property
    def reasons(self) -> list[tuple[str, str]]:
        """Kind and sentence of each message that has both, as Confluent's checkers write them; others as they are."""
        matched = [(message, _REASON.match(message)) for message in self.messages]
        return [(match["kind"], match["sentence"]) if match else ("", item) for item, match in matched]


class RegistryGateway:
    """Every method raises RegistryAwayError and RefusedError."""

    def __init__(self, client: RegistryClient):
        self._client = client

    def subjects(self, *, deleted: bool = False) -> list[str]:
        subjects = self._client.ask("GET", "subjects", query={"deleted": "true"} if deleted else None)
        return sorted(name for name in _listed(subjects) if isinstance(name, str))

    def refused(self) -> list[dict[str, Any]]:
        """Return the fields of registrations refused of late, which only our own registry tells; else empty."""
        refused = self._client.list_if_served("refused-registrations")
        return [refused_fields(item) for item in refused if isinstance(item, dict)][:REFERENCES_MAX]

    def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        numbers = self._client.ask(
            "GET", "subjects", subject, "versions", query={"deleted": "true"} if deleted else None
        )
        return sorted(number for number in _listed(numbers) if isinstance(number, int))

    def version(self, subject: str, number: int | str, *, form: str = "") -> RegisteredText:
        query = {"deleted": "true"} | ({"format": form} if form else {})
        return _schema(self._client.ask("GET", "subjects", subject, "versions", str(number), query=query))

    def of_id(self, schema_id: int, *, form: str = "", context: str = "") -> RegisteredText:
        """Return a version's text by id; each context has ids of its own."""
        query = ({"format": form} if form else {}) | _of_context(context)
        response = self._client.ask("GET", "schemas", "ids", str(schema_id), query=query or None)
        return _schema({"id": schema_id, **_mapped(response)})

    def places(self, schema_id: int, *, context: str = "") -> list[tuple[str, int]]:
        """Return the subjects and versions that have this id in the context."""
        query = _of_context(context) or None
        places = _listed(self._client.ask("GET", "schemas", "ids", str(schema_id), "versions", query=query))
        pairs = [(item.get("subject"), _number(item.get("version"))) for item in places if isinstance(item, dict)]
        return sorted((subject, number) for subject, number in pairs if isinstance(subject, str))

    def referrers(self, subject: str, number: int) -> list[int]:
        referrers = self._client.ask("GET", "subjects", subject, "versions", str(number), "referencedby")
        return [item for item in _listed(referrers) if _is_number(item)][:REFERENCES_MAX]

    def level(self, subject: str = "") -> str | None:
        """Return the subject's own level; None if it has none."""
        response = self._of_scope("GET", "config", subject)
        return None if response is None else str(response.get("compatibilityLevel", ""))[:40]

    def context_level(self, context: str) -> str | None:
        """Return the level of a context; None: it has none of its own, or is the default one."""
        return self.level(f":{context}:") if context else None

    def mode(self, subject: str = "") -> str | None:
        response = self._of_scope("GET", "mode", subject)
        return None if response is None else str(response.get("mode", ""))[:40]

    def set_level(self, subject: str, level: str | None) -> None:
        self._set("config", subject, None if level is None else {"compatibility": level})

    def set_mode(self, subject: str, mode: str | None) -> None:
        self._set("mode", subject, None if mode is None else {"mode": mode})

    def compare(self, subject: str, schema: RegisteredText) -> CompatibilityVerdict:
        """Compare with the versions of the subject's level; a new subject accepts anything."""
        response = self._client.ask(
            "POST", "compatibility", "subjects", subject, "versions", query={"verbose": "true"}, body=schema.fields
        )
        messages = tuple(str(message)[:2_000] for message in _listed(_mapped(response).get("messages") or [])[:100])
        return CompatibilityVerdict(_mapped(response).get("is_compatible") is True, messages)

    def registered(self, subject: str, schema: RegisteredText) -> RegisteredText | None:
        """Return the version that has this very schema, if there is one."""
        try:
            return _schema(self._client.ask("POST", "subjects", subject, body=schema.fields))
        except RefusedError as error:
            if error.code in ("40401", "40403"):
                return None
            raise

    def register(self, subject: str, schema: RegisteredText) -> int:
        """Return the id of the schema."""
        response = _mapped(self._client.ask("POST", "subjects", subject, "versions", body=schema.fields))
        return response["id"] if _is_number(response.get("id")) else 0

    def delete(self, subject: str, number: int | None, *, permanent: bool) -> None:
        parts = ["subjects", subject] + ([] if number is None else ["versions", str(number)])
        self._client.ask("DELETE", *parts, query={"permanent": "true"} if permanent else None)

    def _of_scope(self, method: str, what: str, subject: str) -> dict[str, Any] | None:
        try:
            return _mapped(self._client.ask(method, what, *([subject] if subject else [])))
        except RefusedError as error:
            if subject and error.code in ("40401", "40408", "40409"):
                return None
            raise

    def _set(self, what: str, subject: str, body: dict[str, str] | None) -> None:
        self._client.ask("DELETE" if body is None else "PUT", what, *([subject] if subject else []), body=body)


class KeptNames:
    """The names of all subjects, asked for again after a few seconds."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic):
        self._now_s = now_s
        self._kept: dict[tuple[int, bool], tuple[float, list[str]]] = {}

    def names(self, client: RegistryClient, *, deleted: bool, fresh: bool = False) -> list[str]:
        """Return the subjects. `fresh`: past the cache, after a change."""
        at, names = self._kept.get((id(client), deleted), (0.0, []))
        if fresh or not at or self._now_s() - at > NAMES_KEPT_S:
            names = RegistryGateway(client).subjects(deleted=deleted)
            self._kept[id(client), deleted] = self._now_s(), names
        return names

    def forget(self) -> None:
        self._kept.clear()


NAMES = KeptNames()


def registry() -> RegistryGateway:
    """Return the registry that the settings name. Raises RegistryAwayError."""
    return RegistryGateway(registry_client())


@dataclass
class SubjectRow:
    """A subject of the list; what the registry does not tell of it is empty."""

    name: str
    latest: RegisteredText | None
    count: int
    level: str | None
    #: The level of its context, where the subject has none of its own; empty: that of the registry.
    context_level: str = ""

    @property
    def context(self) -> str:
        return context_of(self.name)[0]

    @property
    def short_name(self) -> str:
        return context_of(self.name)[1]

    @cached_property
    def is_deleted(self) -> bool:
        return self.count == 0


def _of_context(context: str) -> dict[str, str]:
    return {"subject": f":{context}:"} if context else {}


def subject_row(gateway: RegistryGateway, name: str, context_level: str = "") -> SubjectRow:
    """Return a subject's row; one deleted meanwhile is a row without a version."""
    try:
        versions = gateway.versions(name)
        latest = gateway.version(name, versions[-1]) if versions else None
        return SubjectRow(name, latest, len(versions), gateway.level(name), context_level)
    except RefusedError:
        return SubjectRow(name, None, 0, None)


def refused_fields(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `RefusedSchema`, whatever they are in the answer."""
    numbers = {"count": "count", "first": "first_ms", "last": "last_ms", "error_code": "code"}
    texts = {"subject": 1_024, "message": 1_000, "client": 100}
    return {
        **{name: _number(item.get(key)) for key, name in numbers.items()},
        **{name: str(item.get(name) or "")[:length] for name, length in texts.items()},
    }


def _schema(value: object) -> RegisteredText:
    fields = _mapped(value)
    references = [reference for reference in _listed(fields.get("references") or []) if isinstance(reference, dict)]
    return RegisteredText(
        text=str(fields.get("schema") or ""),
        type=str(fields.get("schemaType") or "AVRO")[:40],
        references=tuple(_reference(reference) for reference in references[:REFERENCES_MAX]),
        subject=str(fields.get("subject") or ""),
        version=_number(fields.get("version")),
        id=_number(fields.get("id")),
    )


def _reference(reference: Mapping[str, object]) -> TextReference:
    return TextReference(
        str(reference.get("name") or ""), str(reference.get("subject") or ""), _number(reference.get("version"))
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _mapped(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RegistryAwayError("The schema registry answers something else than a registry does.")
    return value


def _listed(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise RegistryAwayError("The schema registry answers something else than a registry does.")
    return value
