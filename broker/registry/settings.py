"""Compatibility and modes: what was set for a subject, or else for its context, or for all. Pure."""

from collections.abc import Iterator
from typing import Any

from broker.registry.data_contracts import require_rule_set
from broker.registry.deleting import require_unreferenced
from broker.registry.errors import RegistryError, not_permitted, subject_not_found
from broker.registry.names import DEFAULT_CONTEXT, GLOBAL_CONTEXT, split
from broker.registry.records import (
    CONFIG_FIELDS,
    LEVELS,
    MODES,
    CompatibilityKey,
    ModeKey,
    RegistryRecord,
    SchemaKey,
    Value,
    require_shallow,
    require_types,
)
from broker.registry.room import require_room_for_setting
from broker.registry.store import SchemaStore, memory_of_setting

_READ_ONLY = ("READONLY", "READONLY_OVERRIDE")
_POLICIES = ("STRICT", "LENIENT")


def scopes(subject: str) -> Iterator[str]:
    """Yield the scopes whose setting may apply to a subject, nearest first; the global one has the empty name."""
    context, name = split(subject)
    if name:
        yield subject
    if context != DEFAULT_CONTEXT:
        yield f":{context}:"
    else:
        yield ""
    yield GLOBAL_CONTEXT


def as_scope(subject: str) -> str:
    """Return the scope; the context `.` as a whole is the global one."""
    return "" if subject in ("", ":.:") else subject


def effective_config(store: SchemaStore, subject: str, default_level: str) -> Value:
    """Return each setting from the nearest scope that has it."""
    effective: Value = {}
    for scope in scopes(subject):
        config = store.config(scope) or {}
        effective = {name: value for name, value in config.items() if name != "subject"} | effective
    return {"compatibilityLevel": default_level} | effective


def effective_mode(store: SchemaStore, subject: str) -> str:
    """Return the effective mode; a global READONLY_OVERRIDE wins over a subject's mode."""
    if store.mode("") == "READONLY_OVERRIDE":
        return "READONLY_OVERRIDE"
    return next((mode for scope in scopes(subject) if (mode := store.mode(scope))), "READWRITE")


def require_writable(store: SchemaStore, subject: str) -> str:
    """Return the mode. Raises RegistryError 42205 where nothing may be written."""
    mode = effective_mode(store, subject)
    if mode in _READ_ONLY:
        raise not_permitted(f"Subject {subject or 'global'} is in read-only mode")
    return mode


def config_record(store: SchemaStore, subject: str, values: dict[str, Any]) -> RegistryRecord:
    """Return the record that sets these values of the scope and keeps its others. 42203 for a wrong level."""
    level = values.get("compatibility", values.get("compatibilityLevel"))
    value: Value = dict(store.config(subject) or {})
    if subject:
        value = {"subject": subject} | value
    if level is not None:
        value["compatibilityLevel"] = _level(level)
    for name in CONFIG_FIELDS:
        if name in values:
            value[name] = values[name]
    try:
        require_types(value)
        for name in CONFIG_FIELDS:
            require_shallow(name, values.get(name))
    except ValueError as error:
        raise RegistryError(422, str(error)) from None
    for name in ("defaultRuleSet", "overrideRuleSet"):
        require_rule_set(values.get(name))
    policy = value.get("compatibilityPolicy")
    if policy is not None and policy not in _POLICIES:
        raise RegistryError(42203, f"Invalid compatibility policy. Valid values are {', '.join(_POLICIES)}")
    value = {name: setting for name, setting in value.items() if setting is not None}
    if memory_of_setting(value) > memory_of_setting(store.config(subject)):
        require_room_for_setting(store, subject)
    return RegistryRecord(CompatibilityKey(subject), value)


def _level(text: object) -> str:
    if not isinstance(text, str) or text.upper() not in LEVELS:
        raise RegistryError(
            42203,
            "Invalid compatibility level. Valid values are none, backward, forward, full, "
            "backward_transitive, forward_transitive, and full_transitive",
        )
    return text.upper()


def mode_records(store: SchemaStore, subject: str, text: object, *, force: bool) -> list[RegistryRecord]:
    """Return records that set the mode. IMPORT, where clients give ids, only where there is no schema, lest ids mean
    two things; or by force.

    None takes the mode back. Raises RegistryError 42204, 42205, 42206.
    """
    if text is None:
        return [RegistryRecord(ModeKey(subject), None)]
    if not isinstance(text, str) or text.upper() not in MODES:
        raise RegistryError(42204, "Invalid mode. Valid values are READWRITE, READONLY, IMPORT, FORWARD")
    mode = text.upper()
    if mode == "FORWARD" and subject != GLOBAL_CONTEXT:
        raise RegistryError(42204, "Forward mode only supported on global level")
    records = []
    if mode == "IMPORT" and effective_mode(store, subject) != "IMPORT" and not force:
        for name, versions in _in_scope(store, subject):
            if any(not version.deleted for version in versions):
                raise not_permitted("Cannot import since found existing subjects")
            for version in versions:
                require_unreferenced(store, version, deleted=True)
            records += [RegistryRecord(SchemaKey(name, version.version), None) for version in versions]
    if store.mode(subject) is None:
        require_room_for_setting(store, subject)
    value = ({"subject": subject} if subject else {}) | {"mode": mode}
    return [*records, RegistryRecord(ModeKey(subject), value)]


def mode_removal(store: SchemaStore, scope: str, *, recursive: bool) -> tuple[str | None, list[RegistryRecord]]:
    """Return the scope's mode, None without one, and the records that remove it; `recursive`: also those of its
    subjects.

    Raises RegistryError 40401 where there is none to take back.
    """
    mode = store.mode(scope)
    if mode is None and scope and not recursive:
        raise subject_not_found(scope)
    context, name = split(scope)
    below = [subject for subject in store.moded() if not name and subject != scope and split(subject)[0] == context]
    gone = [scope] if mode is not None else []
    gone += sorted(subject for subject in below if split(subject)[1]) if recursive else []
    return mode or ("READWRITE" if not scope else None), [RegistryRecord(ModeKey(subject), None) for subject in gone]


def _in_scope(store: SchemaStore, subject: str) -> Iterator[tuple[str, list[Any]]]:
    context, name = split(subject)
    for text, versions in store.subjects():
        if text == subject or (not name and (subject == GLOBAL_CONTEXT or split(text)[0] == context)):
            yield text, list(versions)
