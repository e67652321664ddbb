"""What follows from the rules, as AclAuthorizer decides it.

A deny counts before every allow. To be allowed to read, write, delete or alter is to be allowed to describe; nothing
follows from being denied them. Rules are found by their names: a decision looks at those of one resource, not at all.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from broker.security.acls.model import (
    ANY_HOST,
    ANYBODY,
    WILDCARD,
    AclEntry,
    Binding,
    Pattern,
    PatternType,
    Permission,
    Rules,
)
from broker.security.operations import AclOperation, ResourceType

#: Those of which one being allowed allows the operation, besides itself and ALL.
_IMPLYING = {
    AclOperation.DESCRIBE: (AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER),
    AclOperation.DESCRIBE_CONFIGS: (AclOperation.ALTER_CONFIGS,),
}
_DENYING = {operation: frozenset({operation, AclOperation.ALL}) for operation in AclOperation}
_ALLOWING = {
    operation: frozenset({operation, AclOperation.ALL, *_IMPLYING.get(operation, ())}) for operation in AclOperation
}

_Entries = tuple[AclEntry, ...]


class Why(NamedTuple):
    """Whether an operation is allowed, and by which rule; None: no rule allows it, or there is `no_rule` at all."""

    is_allowed: bool
    rule: Binding | None
    no_rule: bool = False


class _Kind:
    """The rules of one type of resource."""

    def __init__(self) -> None:
        self.literal: dict[str, _Entries] = {}
        self.prefixed: dict[str, _Entries] = {}
        #: How many prefixes there are of each length: a name is looked up once for each, however many there are.
        self.lengths: Counter[int] = Counter()

    def of_type(self, type_: PatternType) -> dict[str, _Entries]:
        return self.literal if type_ is PatternType.LITERAL else self.prefixed

    def patterns_about(self, kind: ResourceType, name: str) -> Iterator[Pattern]:
        for literal in {WILDCARD, name}:
            if literal in self.literal:
                yield Pattern(kind, literal)
        for length in self.lengths:
            if length <= len(name) and name[:length] in self.prefixed:
                yield Pattern(kind, name[:length], PatternType.PREFIXED)

    def about(self, name: str) -> Iterator[_Entries]:
        for literal in {WILDCARD, name}:
            if entries := self.literal.get(literal):
                yield entries
        for length in self.lengths:
            if length <= len(name) and (entries := self.prefixed.get(name[:length])):
                yield entries


class AccessRules:
    """All rules there are, and what they come to."""

    def __init__(self, rules: Mapping[Pattern, Iterable[AclEntry]] | None = None, *, allows_if_none: bool = False):
        """`allows_if_none` is Kafka's allow.everyone.if.no.acl.found."""
        self._allows_if_none = allows_if_none
        self._kinds: dict[ResourceType, _Kind] = {kind: _Kind() for kind in ResourceType}
        for pattern, entries in (rules or {}).items():
            self.replace(pattern, entries)

    def replace(self, pattern: Pattern, entries: Iterable[AclEntry]) -> bool:
        """Replace the pattern's entries, perhaps by none; return whether anything changed."""
        kind, kept = self._kinds[pattern.kind], tuple(dict.fromkeys(entries))
        named = kind.of_type(pattern.type)
        before = named.pop(pattern.name, ())
        if kept:
            named[pattern.name] = kept
        if pattern.type is PatternType.PREFIXED and bool(before) != bool(kept):
            self._count(kind, len(pattern.name), 1 if kept else -1)
        return set(before) != set(kept)

    @staticmethod
    def _count(kind: _Kind, length: int, change: int) -> None:
        kind.lengths[length] += change
        if not kind.lengths[length]:
            del kind.lengths[length]

    def entries(self, pattern: Pattern) -> tuple[AclEntry, ...]:
        return self._kinds[pattern.kind].of_type(pattern.type).get(pattern.name, ())

    def __iter__(self) -> Iterator[Binding]:
        for pattern, entries in self.rules().items():
            yield from (Binding(pattern, entry) for entry in entries)

    def rules(self) -> Rules:
        return {
            Pattern(kind, name, type_): entries
            for kind, rules in self._kinds.items()
            for type_ in (PatternType.LITERAL, PatternType.PREFIXED)
            for name, entries in rules.of_type(type_).items()
        }

    def allows(self, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        """Return whether the operation is allowed on the resource of this name. `host` is as `java_host` writes it."""
        matching = [entry for entries in self._kinds[kind].about(name) for entry in entries]
        if not matching:
            return self._allows_if_none
        mine = [entry for entry in matching if _is_about(entry, principal, host)]
        denying, allowing = _DENYING[operation], _ALLOWING[operation]
        if any(entry.permission is Permission.DENY and entry.operation in denying for entry in mine):
            return False
        return any(entry.permission is Permission.ALLOW and entry.operation in allowing for entry in mine)

    def explain(
        self, principal: str, host: str, kind: ResourceType, name: str, operations: Iterable[AclOperation]
    ) -> dict[AclOperation, Why]:
        """Return the decision on each operation with the rule that made it, the most specific one of several."""
        patterns = list(self._kinds[kind].patterns_about(kind, name))
        if not patterns:
            return {operation: Why(self._allows_if_none, None, no_rule=True) for operation in operations}
        mine = [
            Binding(pattern, entry)
            for pattern in patterns
            for entry in self.entries(pattern)
            if _is_about(entry, principal, host)
        ]
        return {operation: _why(mine, operation) for operation in operations}

    def allows_on_any(self, principal: str, host: str, operation: AclOperation, kind: ResourceType) -> bool:
        """Return whether the operation is allowed on some resource of this type (KIP-679): an allow counts unless its
        names are all denied. Nothing is implied here: the operation itself, or ALL.
        """
        rules = self._kinds[kind]
        literals = _names(rules.literal, principal, host, operation, Permission.DENY)
        if WILDCARD in literals:
            return False
        if self._allows_if_none:
            return True
        denied = _names(rules.prefixed, principal, host, operation, Permission.DENY)

        def is_covered(name: str) -> bool:
            return any(name[:length] in denied for length in range(1, len(name) + 1))

        allowed = _names(rules.literal, principal, host, operation, Permission.ALLOW)
        if any(name == WILDCARD or not (name in literals or is_covered(name)) for name in allowed):
            return True
        prefixes = _names(rules.prefixed, principal, host, operation, Permission.ALLOW)
        return not all(map(is_covered, prefixes))


def _is_about(entry: AclEntry, principal: str, host: str) -> bool:
    return entry.principal in (principal, ANYBODY) and entry.host in (host, ANY_HOST)


def _why(mine: list[Binding], operation: AclOperation) -> Why:
    for permission, meant in ((Permission.DENY, _DENYING), (Permission.ALLOW, _ALLOWING)):
        deciding = [
            item for item in mine if item.entry.permission is permission and item.entry.operation in meant[operation]
        ]
        if deciding:
            return Why(
                permission is Permission.ALLOW, max(deciding, key=lambda binding: _closeness(binding, operation))
            )
    return Why(False, None)


def _closeness(binding: Binding, operation: AclOperation) -> tuple[object, ...]:
    pattern, entry = binding
    is_named = pattern.type is PatternType.LITERAL and pattern.name != WILDCARD
    length = len(pattern.name) if pattern.type is PatternType.PREFIXED else 0
    does = (entry.operation is operation, entry.operation is not AclOperation.ALL)
    return entry.principal != ANYBODY, is_named, length, does, entry.host != ANY_HOST, pattern.name, entry.operation


def _names(
    named: dict[str, _Entries], principal: str, host: str, operation: AclOperation, permission: Permission
) -> set[str]:
    """Return the names of patterns with a rule of that permission about this client and operation."""
    meant = _DENYING[operation]
    return {
        name
        for name, entries in named.items()
        for entry in entries
        if entry.permission is permission and entry.operation in meant and _is_about(entry, principal, host)
    }
