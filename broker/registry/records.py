"""Keys and values of `_schemas`, byte for byte as Confluent's registry writes them. Pure.

The bytes of a key must never change: the topic is compacted by them, and a tombstone under other bytes deletes nothing
(schema-registry #4420). Where somebody else wrote a key in another way, those bytes are kept beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from broker.common.limits import REGISTRY_SCHEMA_DEPTH_MAX
from broker.registry.schema import AVRO, Content, SchemaReference, Version


@dataclass(frozen=True, slots=True)
class SchemaKey:
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class CompatibilityKey:
    """Key of a subject's compatibility; of the global one, if it is empty."""

    subject: str


@dataclass(frozen=True, slots=True)
class ModeKey:
    subject: str


@dataclass(frozen=True, slots=True)
class DeleteSubjectKey:
    subject: str


@dataclass(frozen=True, slots=True)
class ClearSubjectKey:
    subject: str


@dataclass(frozen=True, slots=True)
class ContextKey:
    context: str


@dataclass(frozen=True, slots=True)
class IdsKey:
    """Ours alone, ignored by others: the highest id of a context that was ever given, for when its schema is gone."""

    context: str


@dataclass(frozen=True, slots=True)
class NoopKey:
    """A new leader's mark: a registry that has read it has read everything of the leaders before."""


LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
#: What a CONFIG record may say besides its subject and its level, and of what type.
CONFIG_FIELDS: dict[str, type] = {
    "alias": str,
    "normalize": bool,
    "validateFields": bool,
    "validateNewSchemas": bool,
    "validateRules": bool,
    "compatibilityGroup": str,
    "compatibilityPolicy": str,
    "defaultMetadata": dict,
    "overrideMetadata": dict,
    "defaultRuleSet": dict,
    "overrideRuleSet": dict,
}

_TYPE_WORDS = {str: "a text", bool: "true or false", dict: "an object"}

Key = SchemaKey | CompatibilityKey | ModeKey | DeleteSubjectKey | ClearSubjectKey | ContextKey | IdsKey | NoopKey
Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RegistryRecord:
    """`value` None: a tombstone."""

    key: Key
    value: Value | None


def encode_key(key: Key) -> bytes:
    return orjson.dumps(_key_fields(key))


def _key_fields(key: Key) -> dict[str, object]:
    match key:
        case SchemaKey(subject, version):
            return {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
        case CompatibilityKey(subject):
            return _about("CONFIG", subject)
        case ModeKey(subject):
            return _about("MODE", subject)
        case DeleteSubjectKey(subject):
            return _about("DELETE_SUBJECT", subject)
        case ClearSubjectKey(subject):
            return _about("CLEAR_SUBJECT", subject)
        case ContextKey(context):
            return {"keytype": "CONTEXT", "tenant": "default", "context": context, "magic": 0}
        case IdsKey(context):
            return {"keytype": "BARNABAS_IDS", "context": context, "magic": 0}
        case NoopKey():
            return {"keytype": "NOOP", "magic": 0}


def _about(keytype: str, subject: str) -> dict[str, object]:
    return {"keytype": keytype, "magic": 0} if not subject else {"keytype": keytype, "subject": subject, "magic": 0}


def decode_key(data: bytes) -> Key | None:
    """Decode a key; None for an unknown type of key, as later registries have some. ValueError for malformed ones."""
    fields = orjson.loads(data)
    if not isinstance(fields, dict):
        raise ValueError("a key is a JSON object")
    subject = fields.get("subject") or ""
    match fields.get("keytype"):
        case "SCHEMA":
            return SchemaKey(_text(subject), _number(fields.get("version")))
        case "CONFIG":
            return CompatibilityKey(_text(subject))
        case "MODE":
            return ModeKey(_text(subject))
        case "DELETE_SUBJECT":
            return DeleteSubjectKey(_text(subject))
        case "CLEAR_SUBJECT":
            return ClearSubjectKey(_text(subject))
        case "CONTEXT":
            return ContextKey(_text(fields.get("context")))
        case "BARNABAS_IDS":
            return IdsKey(_text(fields.get("context")))
        case "NOOP":
            return NoopKey()
    return None


def decode_value(data: bytes | None) -> Value | None:
    """ValueError for what is no JSON object."""
    if data is None:
        return None
    value = orjson.loads(data)
    if value is not None and not isinstance(value, dict):
        raise ValueError("a value is a JSON object")
    return value


def encode_value(value: Value | None) -> bytes | None:
    return None if value is None else orjson.dumps(value)


def schema_record(version: Version) -> RegistryRecord:
    content = version.content
    value: Value = {"subject": version.subject, "version": version.version, "id": version.id}
    value |= content_fields(content)
    text = value.pop("schema")
    return RegistryRecord(
        SchemaKey(version.subject, version.version), value | {"schema": text, "deleted": version.deleted}
    )


def content_fields(content: Content) -> Value:
    """Return the fields as the topic and the responses have them: empty ones and the type AVRO are left out."""
    fields: Value = {}
    if content.type != AVRO:
        fields["schemaType"] = content.type
    if content.references:
        fields["references"] = [
            {"name": reference.name, "subject": reference.subject, "version": reference.version}
            for reference in content.references
        ]
    if content.metadata:
        fields["metadata"] = orjson.loads(content.metadata)
    if content.rule_set:
        fields["ruleSet"] = orjson.loads(content.rule_set)
    fields["schema"] = content.text
    return fields


def version_of(value: Value) -> Version:
    """Parse a SCHEMA record's value. ValueError if it is none."""
    return Version(
        _text(value.get("subject")),
        _number(value.get("version")),
        _number(value.get("id")),
        Content(
            _text(value.get("schemaType") or AVRO),
            _text(value.get("schema")),
            references_of(value.get("references")),
            canonical_json(value.get("metadata")),
            canonical_json(value.get("ruleSet")),
        ),
        value.get("deleted") is True,
    )


def config_of(value: Value | None) -> Value | None:
    """Return the known settings of a CONFIG record's value, which other programs may have extended.

    ValueError for a level that is unknown, and for a setting of another type.
    """
    if value is None:
        return None
    if value.get("compatibilityLevel") not in (None, *LEVELS):
        raise ValueError(f"compatibility level {str(value['compatibilityLevel'])[:50]!r} is unknown")
    require_types(value)
    known = ("subject", "compatibilityLevel", *CONFIG_FIELDS)
    return {name: setting for name, setting in value.items() if name in known}


def require_types(settings: Value) -> None:
    """ValueError for a setting that is not of its type: whoever heeds it could not."""
    for name, type_ in CONFIG_FIELDS.items():
        if not isinstance(settings.get(name), type_ | None):
            raise ValueError(f"{name} must be {_TYPE_WORDS[type_]}, not {str(settings[name])[:50]!r}")


def mode_of(value: Value | None) -> str | None:
    """ValueError for a mode that is unknown."""
    if value is None:
        return None
    mode = value.get("mode", "READWRITE")
    if mode not in MODES:
        raise ValueError(f"mode {str(mode)[:50]!r} is unknown")
    return str(mode)


def references_of(listed: object) -> tuple[SchemaReference, ...]:
    """ValueError for what is no list of references."""
    if not listed:
        return ()
    if not isinstance(listed, list) or not all(isinstance(value, dict) for value in listed):
        raise ValueError("references are a list of objects with name, subject and version")
    return tuple(
        SchemaReference(_text(value.get("name")), _text(value.get("subject")), _number(value.get("version")))
        for value in listed
    )


def canonical_json(value: object) -> str:
    """Return the same text for the same metadata or rules, whatever the order of their members; nothing for what is
    empty.

    ValueError for what is nested more deeply than JSON is written here.
    """
    try:
        stripped = _without_nulls(value)
        return orjson.dumps(stripped, option=orjson.OPT_SORT_KEYS).decode() if stripped else ""
    except (TypeError, RecursionError):
        raise ValueError("it is nested too deeply") from None


def require_shallow(name: str, value: object) -> None:
    """ValueError for metadata or rules of a request that are nested more deeply than a schema may be."""
    level = [value]
    for _ in range(REGISTRY_SCHEMA_DEPTH_MAX + 1):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise ValueError(f"{name} is nested more than {REGISTRY_SCHEMA_DEPTH_MAX} levels deep")


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def properties_of(content: Content) -> Value:
    """Return the properties in the metadata of a schema; none where another program wrote something else there."""
    metadata = orjson.loads(content.metadata) if content.metadata else {}
    properties = metadata.get("properties") if isinstance(metadata, dict) else None
    return properties if isinstance(properties, dict) else {}


def has_rule_type(content: Content, rule_type: str) -> bool:
    """Return whether a rule of the schema is of the type."""
    rules = orjson.loads(content.rule_set) if content.rule_set else {}
    lists = rules.values() if isinstance(rules, dict) else ()
    listed = (rule for rules in lists if isinstance(rules, list) for rule in rules)
    return any(isinstance(rule, dict) and rule.get("type") == rule_type for rule in listed)


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text is expected, not {str(value)[:50]!r}")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -1 <= value < 2**31:
        raise ValueError(f"a number is expected, not {str(value)[:50]!r}")
    return value
