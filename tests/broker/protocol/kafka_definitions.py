"""Kafka's own definitions of messages and stored values, as they lie in its jars: what each version has on the wire."""

import json
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from broker.protocol.schema import OWN_TAG_MIN, Struct
from tests.fetched import KAFKA, obtain

CLIENTS, GROUPS = "kafka-clients-4.4.0.jar", "kafka-group-coordinator-4.4.0.jar"
_LAST_VERSION = 2**15 - 1
#: Kafka's names of types that have another here.
_NAMES = {"boolean": "bool"}


class DefinedField(NamedTuple):
    """A field of one version, by the path of names to it; `type` is Kafka's name for what one element of it is."""

    path: str
    type: str
    nullable: bool
    tag: int | None


@cache
def definitions(jar: str) -> dict[str, dict[str, Any]]:
    """Return the definition of every message in the jar, by its name. Skips the test where Kafka is not fetched."""
    with zipfile.ZipFile(obtain(KAFKA, fetch=False) / jar) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"common/message/\w+\.json", name)]
        read = [json.loads(re.sub(r"(?m)^\s*//.*$", "", archive.read(name).decode())) for name in names]
    return {definition["name"]: definition for definition in read}


def fields_of_kafka(definition: dict[str, Any], version: int) -> set[DefinedField]:
    structs = {struct["name"]: struct["fields"] for struct in definition.get("commonStructs", ())}

    def walk(fields: list[dict[str, Any]], prefix: str) -> Iterator[DefinedField]:
        for field in fields:
            is_tagged = version in versions(field.get("taggedVersions", "none"))
            if version not in versions(field.get("versions", field.get("taggedVersions", "none"))):
                continue
            element = field["type"].removeprefix("[]")
            nested = field.get("fields") or structs.get(element)
            path = f"{prefix}{snake_case(field['name'])}"
            nullable = version in versions(field.get("nullableVersions", "none"))
            kind = "struct" if nested else element
            yield DefinedField(path, kind, nullable, field["tag"] if is_tagged else None)
            yield from walk(nested or [], f"{path}.")

    return set(walk(definition["fields"], ""))


def fields_of_ours(struct: type[Struct], version: int) -> set[DefinedField]:
    """Return the same of a declaration; what only brokers of this kind tell each other is left out."""

    def walk(kind: Any, prefix: str) -> Iterator[DefinedField]:
        for field in kind.fields:
            if not field.exists_in(version) or (field.tag or 0) >= OWN_TAG_MIN:
                continue
            element = getattr(field.type, "element", field.type)
            is_struct = hasattr(element, "fields")
            path = f"{prefix}{field.name}"
            kind_of = "struct" if is_struct else _NAMES.get(str(element), str(element))
            yield DefinedField(path, kind_of, field.nullable_in(version), field.tag)
            if is_struct:
                yield from walk(element, f"{path}.")

    return set(walk(struct, ""))


def versions(text: str) -> range:
    """Return what `0-3`, `2`, `1+` or `none` stands for."""
    if text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text[:-1]), _LAST_VERSION + 1)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def snake_case(name: str) -> str:
    """Return `TopicId` as `topic_id`, and `ISRNodes` as `isr_nodes`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
