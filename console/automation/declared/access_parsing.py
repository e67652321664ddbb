"""What files say of access rules and quotas. Pure."""

from collections.abc import Iterator, Mapping

from console.automation.declared.declaration import DeclaredQuota, DeclaredRules
from console.automation.declared.document import DocumentEntry, Node, Scalar
from console.automation.declared.reader import DeclarationReader, line_of
from console.cluster.quotas.amounts import value_of
from console.cluster.quotas.queries import NAME_LENGTH_MAX
from console.kit.gateway.acls.interface import (
    ANY_HOST,
    CLUSTER_NAME,
    OPERATIONS,
    AclRule,
    java_host,
    kafka_name,
    rule_refusal,
)
from console.kit.gateway.quotas.interface import (
    LABEL_ORDER,
    EntityType,
    entity_of,
    keys_of,
    value_refusal,
    value_text,
)

_RESOURCES = {kind.lower(): kind for kind in OPERATIONS}
_PERMISSIONS = {"allow": "ALLOW", "deny": "DENY"}
_RULE = ("principal", *_PERMISSIONS, *_RESOURCES, "prefixed", "host", "absent")
_ENTITIES = {"user": EntityType.USER, "client_id": EntityType.CLIENT_ID, "ip": EntityType.IP}
_QUOTA = (*_ENTITIES, *LABEL_ORDER)


def declared_rules(reader: DeclarationReader, node: Node) -> Iterator[DeclaredRules]:
    for item in reader.items(node, "acls"):
        table = reader.table(item, "An access rule", _RULE)
        about = _one(reader, table, _RESOURCES, item.line, "what it is about")
        permission = _one(reader, table, _PERMISSIONS, item.line, "what it does")
        principal = reader.text(table.get("principal"), "principal")
        if not principal:
            reader.wrong(item.line, "An access rule needs a principal, as User:alice.")
        if not about or not permission or not principal:
            continue
        rules = tuple(_rules(reader, table, about, permission, principal))
        yield DeclaredRules(rules, reader.at(item.line), reader.switch(table.get("absent"), "absent"))


def declared_quotas(reader: DeclarationReader, node: Node) -> Iterator[DeclaredQuota]:
    for item in reader.items(node, "quotas"):
        table = reader.table(item, "A quota", _QUOTA)
        named = [(str(kind), _name(reader, table[name], name)) for name, kind in _ENTITIES.items() if name in table]
        kinds = {kind for kind, _ in named}
        if not named or (str(EntityType.IP) in kinds and len(kinds) > 1):
            reader.wrong(item.line, "A quota is for a user, a client_id, both of them, or an ip; null: the default.")
            continue
        entity = entity_of(named)
        fitting = keys_of(entity)
        values: dict[str, float | None] = {}
        for key in LABEL_ORDER:
            if key not in table:
                continue
            if key not in fitting:
                reader.wrong(table[key].line, f"Such a quota has no {key}; it has {', '.join(map(str, fitting))}.")
            else:
                values[key] = _amount(reader, table[key], key)
        yield DeclaredQuota(entity, values, reader.at(item.line))


def _one(
    reader: DeclarationReader, entries: Mapping[str, DocumentEntry], words: Mapping[str, str], line: int, what: str
) -> str:
    named = [word for word in words if word in entries]
    if len(named) == 1:
        return named[0]
    line = line_of(entries[named[1]], line) if named else line
    reader.wrong(line, f"An access rule says {what} once: {', '.join(words)}.")
    return ""


def _rules(
    reader: DeclarationReader, entries: Mapping[str, DocumentEntry], about: str, permission: str, principal: str
) -> Iterator[AclRule]:
    resource = _RESOURCES[about]
    is_cluster = resource == "CLUSTER"
    name = CLUSTER_NAME if is_cluster else reader.text(entries[about], about) or ""
    pattern = "PREFIXED" if reader.switch(entries.get("prefixed"), "prefixed") and not is_cluster else "LITERAL"
    host = java_host(reader.text(entries.get("host"), "host") or ANY_HOST)
    known = {_squeezed(operation): operation for operation in ("ALL", *OPERATIONS[resource])}
    words = reader.texts(entries[permission], permission)
    if not words:
        reader.wrong(entries[permission].line, f"{permission} names operations, as [Read, Describe].")
    for word in dict.fromkeys(words):
        operation = known.get(_squeezed(word))
        if operation is None:
            could = ", ".join(map(kafka_name, known.values()))
            reader.wrong(entries[permission].line, f"{word[:40]!r} cannot be done with a {about}; it has {could}.")
            continue
        rule = AclRule(resource, name, pattern, principal, _PERMISSIONS[permission], operation, host)
        if why := rule_refusal(rule):
            reader.wrong(entries[about].line, why)
        yield rule


def _squeezed(word: str) -> str:
    """Return DescribeConfigs for DESCRIBE_CONFIGS, and so on."""
    return word.replace("_", "").lower()


def _name(reader: DeclarationReader, entry: DocumentEntry, name: str) -> str | None:
    """Return an entity's name; None for a default entity."""
    if isinstance(entry.value, Scalar) and entry.value.text is None:
        return None
    text = reader.text(entry, name)
    if text is not None and not 0 < len(text) <= NAME_LENGTH_MAX:
        reader.wrong(entry.line, f"{name} has at most {NAME_LENGTH_MAX} characters; null is the default.")
    return text


def _amount(reader: DeclarationReader, entry: DocumentEntry, key: str) -> float | None:
    if isinstance(entry.value, Scalar) and entry.value.text is None:
        return None
    typed = (reader.text(entry, key) or "").strip()
    value = value_of(key, typed)
    refusal = "This is no amount." if value is None else value_refusal(key, value)
    if refusal or value is None:
        reader.wrong(entry.line, f"{key}: {refusal}")
        return None
    return float(value_text(key, value))
