"""Metadata and rules of a schema: whether rules make sense, and what a version takes over from elsewhere. Pure.

A version that says no metadata or rules has those of the version before it, so that a producer that registers its
schema alone drops none; then the subject's configuration adds its defaults and overrides (`maybeSetMetadataRuleSet` of
Confluent's registry).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from broker.registry.errors import RegistryError
from broker.registry.records import Value, canonical_json
from broker.registry.schema import Content

#: The property that says which version the schema is: it makes two versions of one text.
VERSION_PROPERTY = "confluent:version"
#: The property that lists fields, with commas between, that no version may have.
RESERVED_PROPERTY = "confluent:reserved"

_KINDS = ("TRANSFORM", "CONDITION")
_MIGRATION_MODES = ("UPGRADE", "DOWNGRADE", "UPDOWN")
_DOMAIN_MODES = ("WRITE", "READ", "WRITEREAD")
#: Lists of rules, the modes that they may have, and what Confluent's registry says of another one.
_LISTS = {
    "migrationRules": (_MIGRATION_MODES, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"),
    "domainRules": (_DOMAIN_MODES, "Domain rules can only be WRITE, READ, WRITEREAD"),
    "encodingRules": (_DOMAIN_MODES, "Encoding rules can only be WRITE, READ, WRITEREAD"),
}
_NAME_LENGTH_MAX = 256
_TEXTS = ("name", "doc", "type", "expr", "onSuccess", "onFailure")
#: A letter is any of Unicode's, as for Character.isLetter.
_NAME = re.compile(r"(?:[^\W\d]|_)[\w-]*")


def require_rule_set(rules: object) -> None:
    """Raise RegistryError 42210 for a rule set that no client could follow; None is no rule set."""
    if rules is None:
        return
    if not isinstance(rules, dict):
        raise _invalid("ruleSet is an object with migrationRules, domainRules and encodingRules")
    names: set[str] = set()
    for kind, (modes, sentence) in _LISTS.items():
        for rule in _rules(rules, kind):
            _require_rule(rule)
            if rule["name"] in names:
                raise _invalid(f"Found rule with duplicate name '{rule['name']}'")
            names.add(rule["name"])
            if (rule.get("mode") or "WRITEREAD") not in modes:
                raise _invalid(sentence)


def _rules(rules: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    listed = rules.get(kind) or []
    if not isinstance(listed, list) or not all(isinstance(rule, dict) for rule in listed):
        raise _invalid(f"{kind} is a list of rules")
    yield from listed


def _require_rule(rule: dict[str, Any]) -> None:
    for member in _TEXTS:
        if not isinstance(rule.get(member), str | None):
            raise _invalid(f"{member} of a rule is a text")
    _require_name(rule.get("name"))
    if rule.get("type") is None:
        raise _invalid("Missing rule type")
    if rule.get("kind") not in (None, *_KINDS):
        raise _invalid(f"A rule's kind is one of {', '.join(_KINDS)}")
    mode = rule.get("mode") or "WRITEREAD"
    if mode not in (*_MIGRATION_MODES, *_DOMAIN_MODES):
        raise _invalid(f"A rule's mode is one of {', '.join((*_MIGRATION_MODES, *_DOMAIN_MODES))}")
    tags, parameters = rule.get("tags") or [], rule.get("params") or {}
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _invalid("tags of a rule is a list of texts")
    if not isinstance(parameters, dict) or any(isinstance(value, dict | list) for value in parameters.values()):
        raise _invalid("params of a rule is an object of texts")
    if mode not in ("WRITEREAD", "UPDOWN") and any(
        "," in (rule.get(name) or "") for name in ("onSuccess", "onFailure")
    ):
        raise _invalid("Multiple actions only valid with WRITEREAD and UPDOWN")


def _require_name(name: str | None) -> None:
    if name is None:
        raise _invalid("Missing rule name")
    if not name:
        raise _invalid("Empty rule name")
    if len(name) > _NAME_LENGTH_MAX:
        raise _invalid("Rule name too long")
    if not _NAME.fullmatch(name):
        place = "initial character" if not _NAME.match(name) else "character"
        raise _invalid(f"Illegal {place} in rule name: {name}")


def _invalid(sentence: str) -> RegistryError:
    return RegistryError(42210, sentence)


@dataclass(frozen=True)
class ContractRequest:
    """Metadata and rules as a client sends them; None where it sends none, which is not the same as empty ones."""

    metadata: Value | None = None
    rule_set: Value | None = None
    #: The version that the client expects to be made; 0 where it expects none.
    version: int = 0


def completed(
    content: Content, request: ContractRequest, config: Value, previous: Content | None, new_version: int | None
) -> Content:
    """Return the content with the metadata and rules that it is registered with.

    previous: the newest version of the subject, None for the first. new_version: the number of the version to be made,
    None for a look-up.
    """
    metadata = request.metadata if request.metadata is not None else _loaded(previous.metadata if previous else "")
    rules = request.rule_set if request.rule_set is not None else _loaded(previous.rule_set if previous else "")
    metadata = _merged(_merged(config.get("defaultMetadata"), metadata), config.get("overrideMetadata"))
    rules = _merged(_merged(config.get("defaultRuleSet"), rules), config.get("overrideRuleSet"))
    if new_version is not None and (request.version != 0 or version_property(metadata) is not None):
        metadata = with_version(metadata, new_version)
    return Content(content.type, content.text, content.references, canonical_json(metadata), canonical_json(rules))


def has_defaults_or_overrides(config: Value) -> bool:
    names = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")
    return any(config.get(name) is not None for name in names)


def with_version(metadata: Value | None, version: int) -> Value:
    """Return the metadata with `confluent:version`."""
    return (metadata or {}) | {"properties": properties_in(metadata) | {VERSION_PROPERTY: str(version)}}


def without_version(text: str) -> str:
    """Return the metadata's JSON without `confluent:version`; empty where nothing is left."""
    metadata = _loaded(text)
    if version_property(metadata) is None or metadata is None:
        return text
    properties = {name: value for name, value in properties_in(metadata).items() if name != VERSION_PROPERTY}
    rest = {name: value for name, value in metadata.items() if name != "properties"}
    return canonical_json(rest | {"properties": properties} if properties else rest)


def version_property(metadata: Value | None) -> str | None:
    """Return `confluent:version` of the metadata, or None."""
    value = properties_in(metadata).get(VERSION_PROPERTY)
    return value if isinstance(value, str) else None


def differ_in_version_alone(content: Content, number: int | None, stored: Content, stored_number: int) -> bool:
    """Return whether metadata are the same where one of them has no `confluent:version`; rules are compared whole.

    number: the version in the metadata of `content`, where there is one: it must be that of the stored version.
    """
    if content.rule_set != stored.rule_set:
        return False
    stored_version = version_number(stored.metadata)
    if number is None or stored_version is None:
        if number is not None and number != stored_number:
            return False
        return without_version(content.metadata) == without_version(stored.metadata)
    return content.metadata == stored.metadata


def version_number(text: str) -> int | None:
    """Return the number in `confluent:version` of the metadata's JSON; None without one."""
    value = version_property(_loaded(text))
    return int(value) if value is not None and value.isdecimal() and len(value) < 10 else None


def reserved_fields(content: Content) -> frozenset[str]:
    """Return the names of the fields that no version may have."""
    value = properties_in(_loaded(content.metadata)).get(RESERVED_PROPERTY)
    names = value.split(",") if isinstance(value, str) else []
    return frozenset(name.strip() for name in names if name.strip())


def merged_rules(rules: Value | None, more: Value | None, removed: list[str]) -> Value | None:
    """Return the rules with others merged into them by their names, and without those of the names removed."""
    merged = _merged(rules, more)
    if merged is None:
        return None
    kept = {
        kind: [rule for rule in merged.get(kind) or [] if rule.get("name") not in removed]
        for kind in _LISTS
        if isinstance(merged.get(kind), list)
    }
    return merged | kept


def properties_in(metadata: Value | None) -> Value:
    properties = metadata.get("properties") if isinstance(metadata, dict) else None
    return properties if isinstance(properties, dict) else {}


def _loaded(text: str) -> Value | None:
    value = orjson.loads(text) if text else None
    return value if isinstance(value, dict) else None


def _merged(older: Any, newer: Any) -> Value | None:
    """Merge member by member, the newer one wins; lists of rules by the names of the rules."""
    if not isinstance(older, dict) or not isinstance(newer, dict):
        return newer if isinstance(newer, dict) else older if isinstance(older, dict) else None
    merged = dict(older)
    for name, value in newer.items():
        present = merged.get(name)
        if isinstance(value, dict) and isinstance(present, dict):
            merged[name] = present | value
        elif name in _LISTS and isinstance(value, list) and isinstance(present, list):
            names = {rule.get("name") for rule in value if isinstance(rule, dict)}
            merged[name] = [
                rule for rule in present if isinstance(rule, dict) and rule.get("name") not in names
            ] + value
        elif name == "sensitive" and isinstance(value, list) and isinstance(present, list):
            merged[name] = sorted({*map(str, present), *map(str, value)})
        elif value is not None:
            merged[name] = value
    return merged
