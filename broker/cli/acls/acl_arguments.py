"""Translates the options of kafka-acls into rules, as Kafka's AclCommand does. Pure."""

from collections.abc import Iterable, Sequence

from broker.cli.frame.declaration import Arguments, UsageError
from broker.security.acls.filters import PatternFilter
from broker.security.acls.model import ANY_HOST, AclEntry, PatternType, Permission, java_host
from broker.security.operations import CLUSTER_NAME, SUPPORTED, AclOperation, ResourceType

#: What is meant of each resource; no entries: all that there are (when rules are taken away).
Meant = dict[PatternFilter, list[AclEntry]]

_CLUSTER = PatternFilter(ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)
_NAMED = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
    "delegation-token": ResourceType.DELEGATION_TOKEN,
    "user-principal": ResourceType.USER,
}
_PRODUCES = {
    ResourceType.TOPIC: (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE),
    ResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE, AclOperation.DESCRIBE),
}
_CONSUMES = {ResourceType.TOPIC: (AclOperation.READ, AclOperation.DESCRIBE), ResourceType.GROUP: (AclOperation.READ,)}
_OPERATIONS = {item.name.replace("_", ""): item for item in AclOperation if item > AclOperation.ANY}


def operation(text: str) -> AclOperation:
    """Raises ValueError."""
    try:
        return _OPERATIONS[text.strip().replace("_", "").upper()]
    except KeyError:
        raise ValueError(f"it is one of {', '.join(name.name for name in _OPERATIONS.values())}") from None


def pattern_type(text: str) -> PatternType:
    """Raises ValueError."""
    try:
        return PatternType[text.strip().upper()]
    except KeyError:
        raise ValueError("it is literal, prefixed, match or any") from None


def principal(text: str) -> str:
    """Raises ValueError."""
    kind, separator, _ = text.strip().partition(":")
    if not (kind and separator):
        raise ValueError(f"expected a string in format principalType:principalName but got {text}")
    return text.strip()


def check_arguments(arguments: Arguments) -> None:
    """Raises UsageError in Kafka's words."""
    given = arguments.given
    if given("principal") and not arguments["list"]:
        raise UsageError("The --principal option is only available if --list is set")
    for action, others in (
        ("list", ("producer", "consumer", "allow-principal", "deny-principal", "allow-host", "deny-host")),
        ("producer", ("operation", "deny-principal", "deny-host")),
        ("consumer", ("operation", "deny-principal", "deny-host")),
    ):
        if given(action) and (conflicting := [other for other in others if given(other)]):
            raise UsageError(f'Option "[{action}]" can\'t be used with option "[{conflicting[0]}]"')
    if arguments["producer"] and not given("topic"):
        raise UsageError("With --producer you must specify a --topic")
    if arguments["idempotent"] and not arguments["producer"]:
        raise UsageError("The --idempotent option is only available if --producer is set")
    lacks = not (given("topic") and given("group"))
    beyond = not arguments["producer"] and (arguments["cluster"] or given("transactional-id"))
    if arguments["consumer"] and (lacks or beyond):
        raise UsageError(
            "With --consumer you must specify a --topic and a --group and no --cluster or "
            "--transactional-id option should be specified."
        )


def resources(arguments: Arguments) -> list[PatternFilter]:
    """Return the resources named by the arguments, perhaps none."""
    type_ = arguments["resource-pattern-type"]
    filters = [
        PatternFilter(kind, name.strip(), type_) for option, kind in _NAMED.items() for name in arguments[option]
    ]
    if type_ is PatternType.LITERAL and (arguments["cluster"] or arguments["idempotent"]):
        filters.append(_CLUSTER)
    return list(dict.fromkeys(filters))


def to_add(arguments: Arguments) -> Meant:
    """Raises UsageError."""
    type_ = arguments["resource-pattern-type"]
    if type_ not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise UsageError(f"A '--resource-pattern-type' value of '{type_.name}' is not valid when adding acls.")
    meant = to_remove(arguments)
    if not all(meant.values()):
        raise UsageError("You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.")
    return meant


def to_remove(arguments: Arguments) -> Meant:
    """Raises UsageError."""
    named = resources(arguments)
    if not named:
        raise UsageError(
            "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
            "--delegation-token <Delegation Token ID>"
        )
    meant: Meant = {}
    if not (arguments["producer"] or arguments["consumer"]):
        meant = {filter_: _entries(arguments, arguments["operation"]) for filter_ in named}
    if arguments["producer"]:
        _add(meant, arguments, named, _PRODUCES)
        if arguments["idempotent"]:
            meant[_CLUSTER] = _entries(arguments, (AclOperation.IDEMPOTENT_WRITE,))
    if arguments["consumer"]:
        _add(meant, arguments, named, _CONSUMES)
    for item, entries in meant.items():
        _check_operations(item.kind, entries)
    return meant


def _add(
    meant: Meant,
    arguments: Arguments,
    named: Iterable[PatternFilter],
    needed: dict[ResourceType, tuple[AclOperation, ...]],
) -> None:
    for filter_ in named:
        if filter_.kind in needed:
            more = _entries(arguments, needed[filter_.kind])
            meant[filter_] = list(dict.fromkeys((*meant.get(filter_, ()), *more)))


def _entries(arguments: Arguments, operations: Sequence[AclOperation]) -> list[AclEntry]:
    return [
        AclEntry(who, host, item, permission)
        for permission, verb in ((Permission.ALLOW, "allow"), (Permission.DENY, "deny"))
        for who in dict.fromkeys(arguments[f"{verb}-principal"])
        for item in dict.fromkeys(operations)
        for host in dict.fromkeys(java_host(text.strip()) for text in arguments[f"{verb}-host"] or (ANY_HOST,))
    ]


def _check_operations(kind: ResourceType, entries: Iterable[AclEntry]) -> None:
    if kind in SUPPORTED and {entry.operation for entry in entries} - {*SUPPORTED[kind], AclOperation.ALL}:
        names = ",".join(item.name for item in (*SUPPORTED[kind], AclOperation.ALL))
        raise UsageError(f"ResourceType {kind.name} only supports operations {names}")
