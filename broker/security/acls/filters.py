"""Which rules a filter means (AclBindingFilter): for telling them, and for taking them away."""

from typing import NamedTuple

from broker.security.acls.model import WILDCARD, AclEntry, Binding, Pattern, PatternType, Permission
from broker.security.operations import AclOperation, ResourceType


class PatternFilter(NamedTuple):
    """A `name` of None matches any name."""

    kind: ResourceType = ResourceType.ANY
    name: str | None = None
    type: PatternType = PatternType.ANY

    def matches(self, pattern: Pattern) -> bool:
        return self.kind in (ResourceType.ANY, pattern.kind) and self._matches_name(pattern)

    def _matches_name(self, pattern: Pattern) -> bool:
        if self.type not in (PatternType.ANY, PatternType.MATCH, pattern.type):
            return False
        if self.name is None or self.name == pattern.name:
            return True
        if self.type is not PatternType.MATCH:
            return False
        if pattern.type is PatternType.LITERAL:
            return pattern.name == WILDCARD
        return self.name.startswith(pattern.name)

    @property
    def only(self) -> Pattern | None:
        """The one pattern that it can match, if there is one at most."""
        is_exact = self.kind is not ResourceType.ANY and self.type in (PatternType.LITERAL, PatternType.PREFIXED)
        return Pattern(self.kind, self.name, self.type) if is_exact and self.name is not None else None


class EntryFilter(NamedTuple):
    """`principal`, `host` None: any."""

    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: Permission = Permission.ANY

    def matches(self, entry: AclEntry) -> bool:
        return (
            self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (AclOperation.ANY, entry.operation)
            and self.permission in (Permission.ANY, entry.permission)
        )


class BindingFilter(NamedTuple):
    pattern: PatternFilter = PatternFilter()
    entry: EntryFilter = EntryFilter()

    def matches(self, binding: Binding) -> bool:
        return self.pattern.matches(binding.pattern) and self.entry.matches(binding.entry)
