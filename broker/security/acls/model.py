"""What a rule is: a pattern of resources, and who may or may not do what with them, from where (KIP-11, KIP-290)."""

from enum import IntEnum
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from broker.security.operations import AclOperation, ResourceType

#: As the name of a literal pattern: every resource of the type.
WILDCARD = "*"
ANY_HOST = "*"
ANYBODY = "User:*"


class PatternType(IntEnum):
    """Kafka's numbers (PatternType); rules are LITERAL or PREFIXED, the others stand in filters."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(IntEnum):
    """Kafka's numbers (AclPermissionType); rules DENY or ALLOW, ANY stands in filters."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class Pattern(NamedTuple):
    kind: ResourceType
    name: str
    type: PatternType = PatternType.LITERAL


class AclEntry(NamedTuple):
    """`host` is an address as Java writes it (`java_host`), or all of them."""

    principal: str
    host: str
    operation: AclOperation
    permission: Permission


class Binding(NamedTuple):
    pattern: Pattern
    entry: AclEntry


#: All rules by what they are about; the entries of a pattern differ from one another.
Rules = dict[Pattern, tuple[AclEntry, ...]]


def java_host(text: str) -> str:
    """Return an address as Java's getHostAddress writes it, in which Kafka compares hosts: IPv6 with eight numbers,
    IPv4 in IPv6 as IPv4. Anything else stays as it is.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    packed = address.packed
    groups = ":".join(f"{int.from_bytes(packed[at : at + 2]):x}" for at in range(0, 16, 2))
    return f"{groups}%{address.scope_id}" if address.scope_id else groups
