"""What the registry can be asked that takes more than one look: registering, looking up, comparing.

Whoever registers first has the schema parsed and compared, and then again in the turn in which it is written, when
nobody else writes: `SchemaRequest.known` keeps what was found, so that a turn is short.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from broker.registry.compatibility import incompatibilities, of_group, to_compare
from broker.registry.deleting import find
from broker.registry.errors import Incompatible, InvalidSchema, schema_not_found, subject_not_found
from broker.registry.kinds import ParsedSchema
from broker.registry.names import context_of, split
from broker.registry.records import RegistryRecord, Value, canonical_json
from broker.registry.registering import live_version, referred, registration, require_mode, resolved_references
from broker.registry.registry import SchemaRegistry
from broker.registry.schema import Content, Version
from broker.registry.settings import effective_config, require_writable


@dataclass(frozen=True)
class SchemaRequest:
    """A schema as somebody sends it. `normalize` None: as the subject's configuration says."""

    content: Content
    id: int | None = None
    version: int | None = None
    normalize: bool | None = None
    #: What parsing it and comparing it with other schemas came to, an error too.
    known: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    async def once(self, key: object, find: Callable[[], Awaitable[Any]]) -> Any:
        """Return what `find` returns, or raise the InvalidSchema that it raises; it is awaited once for each `key`."""
        if key not in self.known:
            try:
                self.known[key] = await find()
            except InvalidSchema as error:
                self.known[key] = error
        found = self.known[key]
        if isinstance(found, InvalidSchema):
            raise found
        return found


async def understood(
    registry: SchemaRegistry, subject: str, asked: SchemaRequest, config: Value
) -> tuple[Content, ParsedSchema]:
    """The content by which it is recognised. Raises InvalidSchema."""
    content = resolved_references(registry.store, subject, asked.content)
    context = context_of(subject)
    key = content, referred(registry.store, context, content, also_deleted=False)
    parsed = await asked.once(key, partial(registry.parse, context, content, is_new=True))
    normalizes = bool(config.get("normalize")) if asked.normalize is None else asked.normalize
    if not normalizes:
        return replace(content, text=parsed.canonical), parsed
    references = tuple(
        sorted(set(content.references), key=lambda reference: (reference.name, reference.subject, reference.version))
    )
    return replace(content, text=parsed.normalized(), references=references), parsed


async def registered(registry: SchemaRegistry, subject: str, asked: SchemaRequest) -> Version | None:
    """The version that is this schema already: it needs no leader, and is no matter of compatibility."""
    if not registry.store.versions(subject):
        return None
    config = effective_config(registry.store, subject, registry.config.schema_compatibility_level)
    asked = _completed(registry, subject, asked, config)
    content, _ = await understood(registry, subject, asked, config)
    present = live_version(registry.store, subject, content)
    return present if present is not None and asked.id in (None, present.id) else None


async def register(
    registry: SchemaRegistry, subject: str, asked: SchemaRequest
) -> tuple[Version, list[RegistryRecord]]:
    """Decides. The version that is this schema already, without records, or the one to be."""
    store = registry.store
    mode = require_writable(store, subject)
    config = effective_config(store, subject, registry.config.schema_compatibility_level)
    asked = _completed(registry, subject, asked, config)
    is_import = mode == "IMPORT"
    content, parsed = await understood(
        registry, subject, replace(asked, normalize=False) if is_import else asked, config
    )
    present = live_version(store, subject, content)
    if present is not None and (asked.id in (None, present.id)):
        return present, []
    require_mode(subject, mode, asked.id)
    if not is_import:
        found = await _incompatibilities(registry, asked, content, parsed, config, store.versions(subject))
        if found:
            raise Incompatible(found)
    return registration(store, subject, content, mode=mode, schema_id=asked.id, number=asked.version)


def _completed(registry: SchemaRegistry, subject: str, asked: SchemaRequest, config: Value) -> SchemaRequest:
    """Without a text it is the latest schema with other metadata or rules; the subject may add some of its own."""
    content = asked.content
    latest = next(reversed(registry.store.versions(subject)), None)
    if not content.text.strip():
        if latest is None:
            raise InvalidSchema("Empty schema")
        content = replace(
            latest.content,
            metadata=content.metadata or latest.content.metadata,
            rule_set=content.rule_set or latest.content.rule_set,
        )
    inherited = latest.content if latest else Content(content.type, "")
    metadata = (
        _merged(config.get("defaultMetadata"), content.metadata or inherited.metadata, config.get("overrideMetadata"))
        if _adds(config, "Metadata")
        else content.metadata
    )
    rules = (
        _merged(config.get("defaultRuleSet"), content.rule_set or inherited.rule_set, config.get("overrideRuleSet"))
        if _adds(config, "RuleSet")
        else content.rule_set
    )
    return replace(asked, content=replace(content, metadata=metadata, rule_set=rules))


def _adds(config: Value, what: str) -> bool:
    return bool(config.get(f"default{what}") or config.get(f"override{what}"))


def _merged(default: Any, own: str, override: Any) -> str:
    """Member by member of what is told; lists of rules by the names of the rules."""
    merged: dict[str, Any] = {}
    for layer in (default, orjson.loads(own) if own else None, override):
        for name, said in (layer or {}).items():
            if isinstance(said, dict) and isinstance(merged.get(name), dict | None):
                merged[name] = (merged.get(name) or {}) | said
            elif _is_list_of_rules(said) and _is_list_of_rules(merged.get(name) or []):
                rules = {str(rule.get("name")): rule for rule in [*(merged.get(name) or []), *said]}
                merged[name] = list(rules.values())
            else:
                merged[name] = said
    return canonical_json(merged)


def _is_list_of_rules(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(rule, dict) for rule in value)


async def look_up(registry: SchemaRegistry, subject: str, asked: SchemaRequest, *, deleted: bool) -> Version:
    """The version of the subject that is this schema. Raises RegistryError 40401, 40403."""
    store = registry.store
    versions = store.versions(subject, deleted=deleted)
    if not versions:
        raise subject_not_found(subject)
    config = effective_config(store, subject, registry.config.schema_compatibility_level)
    try:
        content, parsed = await understood(registry, subject, asked, config)
    except InvalidSchema:
        if asked.content.references:
            raise schema_not_found() from None
        raise
    exact = live_version(store, subject, content, deleted=deleted)
    if exact is not None:
        return exact
    return await _alike(registry, versions, content, parsed)


async def _alike(registry: SchemaRegistry, versions: list[Version], content: Content, parsed: ParsedSchema) -> Version:
    """What is the same but for how it is put: metadata left out by who asks, references written out."""
    resolved = parsed.formatted("resolved")
    for version in reversed(versions):
        stored = version.content
        if stored.type != content.type or (content.metadata and content.metadata != stored.metadata):
            continue
        if content.rule_set and content.rule_set != stored.rule_set:
            continue
        if stored.text == content.text and stored.references == content.references:
            return version
        if stored.references or content.references:
            other = await registry.parse_stored(version.subject, stored)
            if other.formatted("resolved") == resolved:
                return version
    raise schema_not_found()


async def compatible(
    registry: SchemaRegistry, subject: str, asked: SchemaRequest, number: int | None, *, every: bool
) -> list[str]:
    """What is in the way of registering it, compared with one version (None: the latest), or with `every` one that the
    level asks for. Without any version there is nothing in the way. Raises RegistryError 40401, 40402, InvalidSchema.
    """
    store = registry.store
    config = effective_config(store, subject, registry.config.schema_compatibility_level)
    versions = store.versions(subject)
    if not every:
        versions = versions[-1:] if number is None else [find(store, subject, number, deleted=False)]
    asked = _completed(registry, subject, asked, config)
    content, parsed = await understood(registry, subject, asked, config)
    return await _incompatibilities(registry, asked, content, parsed, config, versions)


async def _incompatibilities(
    registry: SchemaRegistry,
    asked: SchemaRequest,
    content: Content,
    parsed: ParsedSchema,
    config: Value,
    versions: list[Version],
) -> list[str]:
    level, lenient = config["compatibilityLevel"], config.get("compatibilityPolicy") == "LENIENT"
    older = to_compare(level, of_group(versions, content, config.get("compatibilityGroup")))
    others = [named for named in older if named.content.type != content.type]
    if others:
        return [f"Incompatible because of different schema type: {content.type} after {others[0].content.type}"]
    for version in older:
        key = content, version, level, lenient
        compare = partial(_compared, registry, parsed, version, level, lenient=lenient)
        found: list[str] = await asked.once(key, compare)
        if found:
            return found
    return []


async def _compared(
    registry: SchemaRegistry, new: ParsedSchema, version: Version, level: str, *, lenient: bool
) -> list[str]:
    """One pair is one job, behind which other clients have their turn."""
    old = await registry.parse_stored(version.subject, version.content)
    try:
        return await registry.think(partial(incompatibilities, level, new, (version, old), lenient=lenient))
    except RecursionError:
        raise InvalidSchema("the schema is nested too deeply") from None


def by_id(registry: SchemaRegistry, context: str, subject: str, schema_id: int) -> tuple[str, Content]:
    """The context in which the id was found, and the schema: that of the subject; if it names no context, another in
    which a subject of that name has the id. Raises RegistryError 40403.
    """
    store = registry.store
    content = store.by_id(context, schema_id)
    if content is not None:
        return context, content
    name = split(subject)[1]
    if name and context == ".":
        for other in store.contexts():
            if any(split(place.subject)[1] == name for place in store.places(other, schema_id)):
                found = store.by_id(other, schema_id)
                if found is not None:
                    return other, found
    raise schema_not_found(schema_id)


def aliased(registry: SchemaRegistry, subject: str) -> str:
    """The subject that is meant where this one is read."""
    alias = (registry.store.config(subject) or {}).get("alias")
    return alias if isinstance(alias, str) and alias else subject


def require_known(registry: SchemaRegistry, subject: str, *, deleted: bool = False) -> list[Version]:
    """Raises RegistryError 40401."""
    versions = registry.store.versions(subject, deleted=deleted)
    if not versions:
        raise subject_not_found(subject)
    return versions
