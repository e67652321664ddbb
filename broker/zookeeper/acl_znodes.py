"""Where access rules are in ZooKeeper and what is in them, as AclAuthorizer of Kafka 3.9 (ZkData, AclEntry). Pure.

Rules about literal names lie where they lay before there were prefixes (KIP-290), and a change of them is told in the
words of then; everything else is in the extended tree. Encoders write what Kafka writes, decoders read names in
whatever letters.
"""

from collections.abc import Iterable
from typing import Any

from broker.security.acls.model import AclEntry, Pattern, PatternType, Permission, java_host
from broker.security.operations import AclOperation, ResourceType
from broker.zookeeper.errors import MalformedZnode, OperationRefused
from broker.zookeeper.json_fields import decode_fields, encode_fields

ACLS = "/kafka-acl"
PREFIXED_ACLS = "/kafka-acl-extended/prefixed"
ACL_CHANGES = "/kafka-acl-changes"
EXTENDED_ACL_CHANGES = "/kafka-acl-extended-changes"
_CHANGE = "acl_changes_"
_VERSION = 1


def pascal_case(name: str) -> str:
    """Return `DESCRIBE_CONFIGS` as Kafka writes it in znodes and messages: `DescribeConfigs`."""
    return "".join(word.capitalize() for word in name.split("_"))


_KINDS = {pascal_case(kind.name): kind for kind in ResourceType if kind > ResourceType.ANY}
_KINDS_READ = {text.lower(): kind for text, kind in _KINDS.items()} | {
    kind.name.lower(): kind for kind in _KINDS.values()
}
_OPERATIONS = {
    pascal_case(operation.name).lower(): operation for operation in AclOperation if operation > AclOperation.ANY
} | {operation.name.lower(): operation for operation in AclOperation if operation > AclOperation.ANY}
_PERMISSIONS = {permission.name.lower(): permission for permission in (Permission.ALLOW, Permission.DENY)}
_ROOTS = {PatternType.LITERAL: ACLS, PatternType.PREFIXED: PREFIXED_ACLS}

#: What a broker with an authorizer creates at start if it is missing.
PERSISTENT_PATHS = (
    *(f"{root}/{kind}" for root in _ROOTS.values() for kind in _KINDS),
    ACL_CHANGES,
    EXTENDED_ACL_CHANGES,
)


def root_of(type_: PatternType) -> str:
    return _ROOTS[type_]


def kind_of(name: str) -> ResourceType | None:
    """Return the resource type of the znode's name; None for an unknown one (KAFKA-7216)."""
    return _KINDS.get(name)


def acl_path(pattern: Pattern) -> str:
    """Return the path of an ACL. OperationRefused for a name that cannot be a znode's."""
    name = pattern.name
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise OperationRefused(f"{_ROOTS[pattern.type]}/{name!r:.300}", "this is no name of a znode")
    return f"{_ROOTS[pattern.type]}/{pascal_case(pattern.kind.name)}/{name}"


def encode_acls(entries: Iterable[AclEntry]) -> bytes:
    return encode_fields({"version": _VERSION, "acls": [_fields(entry) for entry in entries]})


def _fields(entry: AclEntry) -> dict[str, str]:
    return {
        "principal": entry.principal,
        "permissionType": pascal_case(entry.permission.name),
        "operation": pascal_case(entry.operation.name),
        "host": entry.host,
    }


def decode_acls(path: str, data: bytes) -> tuple[AclEntry, ...]:
    """Return the entries in the znode's order, without duplicates; none if it is empty."""
    if not data:
        return ()
    fields = decode_fields(path, data)
    if fields.get("version") != _VERSION:
        raise MalformedZnode(f"{path} has access rules of version {fields.get('version')!r:.30}, which is unknown here")
    try:
        return tuple(dict.fromkeys(_entry(one) for one in fields["acls"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise MalformedZnode(f"{path} has a rule that cannot be read: {error!s:.100}") from error


def _entry(fields: Any) -> AclEntry:
    principal, host = fields["principal"], fields["host"]
    if not (isinstance(principal, str) and ":" in principal and isinstance(host, str)):
        raise TypeError(f"{principal!r:.50} from {host!r:.50}")
    operation = _OPERATIONS[fields["operation"].lower()]
    return AclEntry(principal, java_host(host), operation, _PERMISSIONS[fields["permissionType"].lower()])


# -- what tells of a change


def change_prefix(pattern: Pattern) -> str:
    root = ACL_CHANGES if pattern.type is PatternType.LITERAL else EXTENDED_ACL_CHANGES
    return f"{root}/{_CHANGE}"


def encode_change(pattern: Pattern) -> bytes:
    if pattern.type is PatternType.LITERAL:
        return f"{pattern.kind.name}:{pattern.name}".encode()
    return encode_fields(
        {
            "version": _VERSION,
            "resourceType": pattern.kind.name,
            "name": pattern.name,
            "patternType": pattern.type.name,
        }
    )


def decode_change(path: str, data: bytes) -> Pattern:
    """Return the pattern whose ACLs changed, from either tree."""
    try:
        if path.startswith(f"{ACL_CHANGES}/"):
            kind, separator, name = data.decode().partition(":")
            if not separator:
                raise ValueError(kind)
            return Pattern(_KINDS_READ[kind.lower()], name)
        fields = decode_fields(path, data)
        if fields["version"] > _VERSION:
            raise ValueError(fields["version"])
        name, type_ = fields["name"], PatternType[fields["patternType"].upper()]
        if not isinstance(name, str) or type_ not in _ROOTS:
            raise ValueError(name)
        return Pattern(_KINDS_READ[fields["resourceType"].lower()], name, type_)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise MalformedZnode(f"{path} names no resource whose rules have changed") from error
