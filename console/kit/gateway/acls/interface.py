"""The words for access lists: what a rule is, what a cluster says of its own, and whom it has denied something.

Types of resources, operations, permissions and kinds of patterns are the names of Kafka's enums: TOPIC, READ, DENY,
PREFIXED.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from broker.security.acls.checks import refusal_of
from broker.security.acls.model import (
    ANY_HOST,
    ANYBODY,
    WILDCARD,
    AclEntry,
    Binding,
    Pattern,
    PatternType,
    Permission,
    java_host,
)
from broker.security.operations import CLUSTER_NAME, SUPPORTED, AclOperation, ResourceType

__all__ = ["ANYBODY", "ANY_HOST", "CLUSTER_NAME", "WILDCARD", "java_host"]

#: Type of resource → what can be done with one, but for ALL.
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    kind.name: tuple(operation.name for operation in operations) for kind, operations in SUPPORTED.items()
}
#: The refusal of a cluster that has no authorizer.
NO_AUTHORIZER = "SECURITY_DISABLED"


@dataclass(frozen=True, slots=True, order=True)
class AclRule:
    """`host` is an address or ANY_HOST, `pattern` LITERAL or PREFIXED, `permission` ALLOW or DENY."""

    resource: str
    name: str
    pattern: str
    principal: str
    permission: str
    operation: str
    host: str = ANY_HOST

    def __str__(self) -> str:
        return f"{self.permission} {self.principal} {self.does} on {self.about} from {self.place}"

    @property
    def brief(self) -> str:
        """The rule without its principal and resource type, which are shown once, unless it is about everybody."""
        name = "" if self.resource == ResourceType.CLUSTER.name else f" on {self.name}{'…' if self.is_prefixed else ''}"
        everybody = " for everybody" if self.principal == ANYBODY else ""
        host = "" if self.host == ANY_HOST else f" from {self.host}"
        return f"{self.permission.lower()} {self.does}{name}{everybody}{host}"

    @property
    def does(self) -> str:
        return kafka_name(self.operation)

    @property
    def about(self) -> str:
        if self.resource == ResourceType.CLUSTER.name:
            return "Cluster"
        return f"{kafka_name(self.resource)} {self.name}{' (prefix)' if self.is_prefixed else ''}"

    @property
    def place(self) -> str:
        return "any host" if self.host == ANY_HOST else self.host

    @property
    def is_prefixed(self) -> bool:
        return self.pattern == PatternType.PREFIXED.name

    @property
    def allows(self) -> bool:
        return self.permission == Permission.ALLOW.name

    def meets(self, resource: str, name: str) -> bool:
        """Return whether it is about the resource of this name, whoever asks."""
        if self.resource != resource:
            return False
        return name.startswith(self.name) if self.is_prefixed else self.name in (name, WILDCARD)


@dataclass(frozen=True, slots=True)
class AclView:
    """All rules, sorted, and what decides beside them; None is what this cluster does not tell its clients."""

    rules: tuple[AclRule, ...]
    super_users: frozenset[str] | None = None
    #: Kafka's allow.everyone.if.no.acl.found.
    allows_if_none: bool | None = None
    #: Who the console is to this cluster; empty: not known.
    own_principal: str = ""
    #: Users with a SCRAM credential.
    users: tuple[str, ...] = ()
    #: Rules of kinds that are not known here: neither shown nor decided upon.
    unknown_count: int = 0


@dataclass(frozen=True, slots=True)
class Denials:
    """What a principal was denied since the brokers started, and the last of it; `principal` may be `others`."""

    principal: str
    count: int
    last_at_ms: int
    last_principal: str
    last_host: str
    last_operation: str
    last_resource: str
    last_name: str


class AclGateway(Protocol):
    def look(self) -> AclView:
        """Raises GatewayError: with the code NO_AUTHORIZER where there is none, other codes where we may not look."""
        ...

    def create(self, rules: Collection[AclRule]) -> Mapping[AclRule, str]:
        """Create ACLs, and return those that failed with a sentence; an existing one is no failure."""
        ...

    def delete(self, rules: Collection[AclRule]) -> Mapping[AclRule, str]:
        """Delete ACLs, and return those that failed, as `create`; a missing one is no failure."""
        ...

    def denials(self) -> tuple[Denials, ...] | None:
        """Return denials, the latest first; None: these brokers do not report them. Raises GatewayError."""
        ...


def kafka_name(name: str) -> str:
    """DESCRIBE_CONFIGS as Kafka writes it: DescribeConfigs."""
    return name.title().replace("_", "")


def rule_refusal(rule: AclRule) -> str:
    """Return why the ACL is invalid, in a sentence; empty if it is valid. Stricter than brokers, as kafka-acls is."""
    kind, separator, name = rule.principal.partition(":")
    if not (kind and separator and name):
        return "A principal is a type and a name, as User:alice."
    if rule.operation not in (*OPERATIONS.get(rule.resource, ()), AclOperation.ALL.name):
        return f"There is no {rule.does} on {kafka_name(rule.resource)}."
    return refusal_of(binding_of(rule))


def binding_of(rule: AclRule) -> Binding:
    """Raises KeyError for words that are not Kafka's."""
    pattern = Pattern(ResourceType[rule.resource], rule.name, PatternType[rule.pattern])
    return Binding(
        pattern, AclEntry(rule.principal, rule.host, AclOperation[rule.operation], Permission[rule.permission])
    )


def rule_of(binding: Binding) -> AclRule:
    (kind, name, type_), entry = binding
    return AclRule(
        kind.name, name, type_.name, entry.principal, entry.permission.name, entry.operation.name, entry.host
    )
