"""The GUID of a schema: the MD5 of what identifies it, written as Confluent's registries write it since 8.0. Pure.

It says nothing of context or id, so the same schema has the same GUID in every registry.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from broker.registry.schema import Content

#: Behind the schema's own bytes, if there are any: what tells none from empty ones.
_PRESENT = b"\x01"


def guid_of(content: Content) -> UUID | None:
    """Return the content's GUID; None for metadata or rules of an invalid shape, which another program may have
    written.
    """
    try:
        return _guid(content)
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


def _guid(content: Content) -> UUID:
    digest = hashlib.md5(content.text.encode(), usedforsecurity=False)
    for reference in content.references:
        digest.update(reference.name.encode() + reference.subject.encode())
        digest.update(reference.version.to_bytes(4, signed=True))
    for section, parts in ((content.metadata, _metadata), (content.rule_set, _rule_set)):
        if section:
            digest.update(_PRESENT)
            for part in parts(json.loads(section)):
                digest.update(part)
    return UUID(bytes=digest.digest())


def read_guid(text: str) -> UUID | None:
    """Parse a GUID; None for anything else."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _metadata(metadata: dict[str, Any]) -> Iterator[bytes]:
    for key, values in sorted((metadata.get("tags") or {}).items()):
        yield key.encode()
        yield from (value.encode() for value in sorted(values))
    yield from _pairs(metadata.get("properties"))
    yield from (name.encode() for name in sorted(metadata.get("sensitive") or ()))


def _rule_set(rule_set: dict[str, Any]) -> Iterator[bytes]:
    for kind in ("migrationRules", "domainRules", "encodingRules"):
        for rule in rule_set.get(kind) or ():
            yield from _rule(rule)


def _rule(rule: dict[str, Any]) -> Iterator[bytes]:
    defaults = {"kind": "TRANSFORM", "mode": "WRITEREAD"}
    for key in ("name", "doc", "kind", "mode", "type"):
        yield str(rule.get(key) or defaults.get(key, "")).encode()
    yield from (tag.encode() for tag in sorted(rule.get("tags") or ()))
    yield from _pairs(rule.get("params"))
    for key in ("expr", "onSuccess", "onFailure"):
        yield str(rule.get(key) or "").encode()
    if rule.get("disabled"):
        yield _PRESENT


def _pairs(pairs: dict[str, str] | None) -> Iterator[bytes]:
    for key, value in sorted((pairs or {}).items()):
        yield key.encode() + str(value).encode()
