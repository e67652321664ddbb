"""What the registry can be asked that takes more than one look: registering, looking up, comparing.

Whoever registers first has the schema parsed and compared, and then again in the turn in which it is written, when
nobody else writes: `SchemaRequest.known` keeps what was found, so that a turn is short.
"""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from broker.registry.compatibility import incompatibilities, of_group, to_compare
from broker.registry.data_contracts import (
    ContractRequest,
    completed,
    differ_in_version_alone,
    has_defaults_or_overrides,
    reserved_fields,
    version_number,
    without_version,
)
from broker.registry.deleting import find
from broker.registry.errors import Incompatible, InvalidSchema, schema_not_found, subject_not_found
from broker.registry.kinds import ParsedSchema
from broker.registry.names import DEFAULT_CONTEXT, context_of, join, split, within
from broker.registry.records import RegistryRecord, Value
from broker.registry.registering import LATEST, live_version, referred, registration, require_mode, resolved_references
from broker.registry.registry import SchemaRegistry
from broker.registry.schema import Content, Version
from broker.registry.settings import effective_config, require_writable
from broker.registry.store import SchemaStore
from broker.registry.tags import TagChanges

_HAS_EXPONENT = re.compile(r"\d\.\d+E-?\d")


@dataclass(frozen=True)
class SchemaRequest:
    """A schema as a client sends it, with the metadata and rules that it sends itself.

    version: 0 or None for the next one, -1 for the latest, else the number it is to have. normalize None: as the
    subject's configuration says. force: it is not compared with other versions.
    """

    content: Content
    id: int | None = None
    version: int | None = None
    normalize: bool | None = None
    force: bool = False
    contract: ContractRequest = field(default_factory=ContractRequest)
    #: Tags that its text is to get and to lose.
    tags: TagChanges | None = None
    #: Whether it takes over the tags in the text of the version before.
    propagates_tags: bool = False
    #: What parsing it and comparing it with other schemas came to, an error too.
    known: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    async def once(self, key: object, find: Callable[[], Awaitable[Any]]) -> Any:
        """Return what `find` returns, or raise the InvalidSchema that it raises; it is awaited once for each `key`."""
        if key not in self.known:
            try:
                self.known[key] = await find()
            except InvalidSchema as error:
                self.known[key] = error
        value = self.known[key]
        if isinstance(value, InvalidSchema):
            raise value
        return value


def config_of(registry: SchemaRegistry, subject: str) -> Value:
    """Return what counts for the subject, defaults of the registry's own file among it."""
    defaults = {
        "compatibilityLevel": registry.config.schema_compatibility_level,
        "validateFields": registry.config.schema_validate_fields,
        "validateNewSchemas": registry.config.schema_validate_new_schemas,
    }
    return defaults | effective_config(registry.store, subject, registry.config.schema_compatibility_level)


async def understood(
    registry: SchemaRegistry, subject: str, request: SchemaRequest, config: Value, *, validates: bool
) -> tuple[Content, ParsedSchema]:
    """Return the content that identifies the schema, and the parsed schema. `validates`: defaults must fit their types.
    Raises InvalidSchema.
    """
    content = resolved_references(registry.store, subject, request.content)
    context = context_of(subject)
    key = content, referred(registry.store, context, content, also_deleted=False)
    parsed = await request.once(key, partial(registry.parse, context, content, is_new=True))
    if validates:
        parsed.require_valid()
    if config.get("validateFields"):
        parsed.require_valid_fields()
    normalizes = bool(config.get("normalize")) if request.normalize is None else request.normalize
    if not normalizes:
        return replace(content, text=parsed.canonical), parsed
    references = tuple(
        sorted(set(content.references), key=lambda reference: (reference.name, reference.subject, reference.version))
    )
    return replace(content, text=parsed.normalized(), references=references), parsed


async def registered(registry: SchemaRegistry, subject: str, request: SchemaRequest) -> Version | None:
    """Return the version that has this schema already, else None: it needs no leader and no compatibility check."""
    versions = registry.store.versions(subject)
    config = config_of(registry, subject)
    changes_text = request.tags or request.propagates_tags or not request.content.text.strip()
    if not versions or has_defaults_or_overrides(config) or changes_text:
        return None
    content, _ = await understood(registry, subject, request, config, validates=False)
    return await _present(registry, subject, request, content, versions)


async def register(
    registry: SchemaRegistry, subject: str, request: SchemaRequest
) -> tuple[Version, list[RegistryRecord]]:
    """Return the version that is this schema already, without records, or the new one with its records."""
    store = registry.store
    mode = require_writable(store, subject)
    config = config_of(registry, subject)
    versions = store.versions(subject)
    is_import = mode in ("IMPORT", "FORWARD")
    if is_import:
        request, config = replace(request, normalize=False), config | {"validateFields": False}
    else:
        request = _populated(store.versions(subject, deleted=True), request, config)
        request = await _tagged(registry, subject, request, versions)
    validates = bool(config["validateNewSchemas"]) and request.id is None
    content, parsed = await understood(registry, subject, request, config, validates=validates)
    present = await _present(registry, subject, request, content, versions)
    if present is not None:
        return present, []
    require_mode(subject, mode, request.id)
    if not is_import and not request.force:
        messages = await _incompatibilities(registry, request, content, parsed, config, versions)
        if messages:
            raise Incompatible(subject, messages)
    return registration(store, subject, content, mode=mode, schema_id=request.id, number=request.version)


def _populated(versions: list[Version], request: SchemaRequest, config: Value) -> SchemaRequest:
    """Return the request completed from the latest version: its schema if there is no text, its metadata and rules
    where none are given.

    versions: of the subject, softly deleted ones too. Raises InvalidSchema.
    """
    latest = next((version for version in reversed(versions) if not version.deleted), None)
    content = request.content
    if not content.text.strip():
        if latest is None:
            raise InvalidSchema("Empty schema")
        content = latest.content
    new_version = versions[-1].version + 1 if versions else 1
    previous = latest.content if latest else None
    return replace(request, content=completed(content, request.contract, config, previous, new_version))


async def _tagged(
    registry: SchemaRegistry, subject: str, request: SchemaRequest, versions: list[Version]
) -> SchemaRequest:
    """Return the request with tags: the latest version's if it takes them over, and its own.

    Raises InvalidSchema.
    """
    changes = [request.tags] if request.tags else []
    if request.propagates_tags and versions:
        latest = await registry.parse_stored(subject, versions[-1].content)
        changes.insert(0, TagChanges(latest.inline_tags().tags, {}, skips_missing=True))
    for change in changes:
        content = resolved_references(registry.store, subject, request.content)
        parsed = await registry.parse(context_of(subject), content, is_new=True)
        text = await registry.think(partial(parsed.with_tags, change))
        request = replace(request, content=replace(content, text=text))
    return request


async def _present(
    registry: SchemaRegistry, subject: str, request: SchemaRequest, content: Content, versions: list[Version]
) -> Version | None:
    """Return the live version that the request need not make again, or None."""
    number = request.version or 0
    if number == LATEST:
        versions = versions[-1:]
    elif number > 0:
        versions = [version for version in versions if (version.version, version.id) == (number, request.id)]
    if number <= 0:
        exact = live_version(registry.store, subject, content)
        if exact is not None and exact in versions and request.id in (None, exact.id):
            return exact
    versions = [version for version in versions if request.id in (None, version.id)]
    return await _alike(registry, subject, request, content, versions)


async def look_up(registry: SchemaRegistry, subject: str, request: SchemaRequest, *, deleted: bool) -> Version:
    """Return the version of the subject that is this schema, or of one of its name in another context.

    Raises RegistryError 40401, 40403.
    """
    own, *others = in_contexts(registry.store, subject)
    version = await _looked_up(registry, own, request, deleted=deleted)
    for other in others if version is None else ():
        with suppress(InvalidSchema):
            version = version or await _looked_up(registry, other, replace(request, known={}), deleted=deleted)
    if version is None:
        raise schema_not_found() if registry.store.versions(own, deleted=deleted) else subject_not_found(subject)
    return version


async def _looked_up(
    registry: SchemaRegistry, subject: str, request: SchemaRequest, *, deleted: bool
) -> Version | None:
    store = registry.store
    versions = store.versions(subject, deleted=deleted)
    if not versions:
        return None
    config = config_of(registry, subject)
    try:
        content, _ = await understood(registry, subject, request, config, validates=False)
    except InvalidSchema:
        if request.content.references:
            return None
        raise
    latest = next((version.content for version in reversed(versions) if not version.deleted), None)
    populated = completed(content, request.contract, config, latest, None)
    for candidate in dict.fromkeys((content, populated)):
        present = live_version(store, subject, candidate, deleted=deleted)
        present = present or await _alike(registry, subject, request, candidate, versions, resolves_all=True)
        if present is not None:
            return present
    return _with_any_contract(request.contract, content, versions)


def _with_any_contract(contract: ContractRequest, content: Content, versions: list[Version]) -> Version | None:
    """Return the newest version with this schema and any metadata or rules: a client without them finds its schema
    although later versions changed them.
    """
    for version in reversed(versions):
        candidate = replace(
            content,
            metadata=content.metadata if contract.metadata is not None else version.content.metadata,
            rule_set=content.rule_set if contract.rule_set is not None else version.content.rule_set,
        )
        if candidate == version.content:
            return version
    return None


async def _alike(
    registry: SchemaRegistry,
    subject: str,
    request: SchemaRequest,
    content: Content,
    versions: list[Version],
    *,
    resolves_all: bool = False,
) -> Version | None:
    """Return the newest version that is the same but for how it is put: `confluent:version` left out, references
    written out.

    The version in inherited metadata is none of the request's own: it is left out, lest each look makes another one.
    resolves_all: versions with other references are compared as well, not only those of a schema that has none.
    """
    if request.contract.metadata is None:
        content = replace(content, metadata=without_version(content.metadata))
    number, resolved = version_number(content.metadata), None
    for version in reversed(versions):
        stored = version.content
        is_same = stored.text == content.text and stored.references == content.references
        may_be_same = is_same or (stored.type == content.type and _may_be_alike(content, stored, resolves_all))
        if not may_be_same or not differ_in_version_alone(content, number, stored, version.version):
            continue
        if is_same:
            return version
        if resolved is None:
            resolved = await _resolved(registry, subject, content)
        if await _resolved(registry, version.subject, stored) == resolved:
            return version
    return None


def _may_be_alike(content: Content, stored: Content, resolves_all: bool) -> bool:
    """Return whether two texts that differ may be one schema: parsing them to see takes long."""
    if resolves_all and (content.references or stored.references):
        return True
    if stored.references and not content.references:
        return True
    return stored.references == content.references and _HAS_EXPONENT.search(content.text) is not None


async def _resolved(registry: SchemaRegistry, subject: str, content: Content) -> str:
    """Return the text with all references written out and normalized: only so texts that were normalized in parts are
    the same, and those with numbers as 10000000.0, which are 1.0E7 today.
    """
    parsed = await registry.parse_stored(subject, content)
    whole = Content(content.type, parsed.formatted("resolved"))
    return (await registry.parse_stored(subject, whole)).normalized()


async def compatible(
    registry: SchemaRegistry, subject: str, request: SchemaRequest, number: int | None, *, every: bool
) -> list[str]:
    """Return why the schema cannot be registered, compared with one version (None: the latest) or with `every` one of
    the level. Without any version there is nothing in the way. Raises RegistryError 40401, 40402, InvalidSchema.
    """
    store = registry.store
    config = config_of(registry, subject)
    versions = store.versions(subject)
    if not every:
        versions = versions[-1:] if number is None else [find(store, subject, number, deleted=False)]
    if not request.content.text.strip():
        raise InvalidSchema("Empty schema")
    validates = bool(config["validateNewSchemas"])
    content, parsed = await understood(registry, subject, request, config, validates=validates)
    return await _incompatibilities(registry, request, content, parsed, config, versions)


async def _incompatibilities(
    registry: SchemaRegistry,
    request: SchemaRequest,
    content: Content,
    parsed: ParsedSchema,
    config: Value,
    versions: list[Version],
) -> list[str]:
    messages = _reserved(content, parsed, versions) if config.get("validateFields") else []
    messages += await _differences(registry, request, content, parsed, config, versions)
    if messages:
        is_strict = str(bool(config.get("validateFields"))).lower()
        messages.append(f"{{validateFields: '{is_strict}', compatibility: '{config['compatibilityLevel']}'}}")
    return messages


def _reserved(content: Content, parsed: ParsedSchema, versions: list[Version]) -> list[str]:
    """Return errors of reserved fields: they stay reserved, and no version has one of them."""
    reserved = reserved_fields(content)
    removed = reserved_fields(versions[-1].content) - reserved if versions else frozenset[str]()
    messages = [f"The new schema has reserved field {name} removed from its metadata" for name in sorted(removed)]
    taken = (name for name in sorted(reserved) if parsed.has_top_level_field(name))
    return messages + [f"The new schema has field that conflicts with the reserved field {name}" for name in taken]


async def _differences(
    registry: SchemaRegistry,
    request: SchemaRequest,
    content: Content,
    parsed: ParsedSchema,
    config: Value,
    versions: list[Version],
) -> list[str]:
    level, lenient = config["compatibilityLevel"], config.get("compatibilityPolicy") == "LENIENT"
    older = to_compare(level, of_group(versions, content, config.get("compatibilityGroup")))
    others = [version for version in older if version.content.type != content.type]
    if others:
        return [f"Incompatible because of different schema type: {content.type} after {others[0].content.type}"]
    for version in older:
        key = content, version, level, lenient
        compare = partial(_compared, registry, parsed, version, level, lenient=lenient)
        messages: list[str] = await request.once(key, compare)
        if messages:
            return list(messages)
    return []


async def _compared(
    registry: SchemaRegistry, new: ParsedSchema, version: Version, level: str, *, lenient: bool
) -> list[str]:
    """Compare with a version and return its incompatibilities; one pair is one job, after which other clients have
    their turn.
    """
    old = await registry.parse_stored(version.subject, version.content)
    try:
        return await registry.think(partial(incompatibilities, level, new, (version, old), lenient=lenient))
    except RecursionError:
        raise InvalidSchema("the schema is nested too deeply") from None


def by_id(store: SchemaStore, subject: str, schema_id: int) -> Version:
    """Return the version of the subject that has the id; else, where the subject names no context, that of the same
    name in another one; else the first version of its context. Raises RegistryError 40403.
    """
    context, name = split(subject)
    if name:
        others = store.contexts() if context == DEFAULT_CONTEXT else ()
        for named in (subject, *(join(other, name) for other in others)):
            stored = store.place(context_of(named), schema_id, named)
            if stored is not None:
                return stored
    stored = store.place(context, schema_id)
    if stored is None:
        raise schema_not_found(schema_id)
    return stored


def in_contexts(store: SchemaStore, subject: str) -> list[str]:
    """Return the subject, and those of its name in other contexts where it names none itself."""
    context, name = split(subject)
    if context != DEFAULT_CONTEXT:
        return [subject]
    others = (join(other, name) for other in store.contexts() if other != DEFAULT_CONTEXT)
    return [subject, *(other for other in others if store.versions(other, deleted=True))]


def aliased(store: SchemaStore, subject: str) -> str:
    """Return the subject that is meant by this one: an alias names one of the same context where it names none."""
    alias = (store.config(subject) or {}).get("alias") if subject else None
    return within(context_of(subject), alias) if isinstance(alias, str) and alias else subject


def require_known(registry: SchemaRegistry, subject: str, *, deleted: bool = False) -> list[Version]:
    """Raises RegistryError 40401."""
    versions = registry.store.versions(subject, deleted=deleted)
    if not versions:
        raise subject_not_found(subject)
    return versions
