"""What a rule must be to be kept (AclApis and AuthorizerUtils of Kafka), told in one sentence. Pure."""

import re

from broker.security.acls.model import Binding, PatternType, Permission
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType

#: What ZooKeeper refuses in the name of a znode.
_NO_ZNODE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")


def refusal_of(binding: Binding) -> str:
    """Return why the ACL is invalid; empty if it is valid."""
    pattern, entry = binding
    if pattern.kind is ResourceType.CLUSTER and pattern.name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    if not pattern.name:
        return "Invalid empty resource name"
    if "/" in pattern.name:
        return f"ResourcePattern name contains '/': {pattern.name:.300}"
    if pattern.name in (".", "..") or _NO_ZNODE.search(pattern.name):
        return f"ResourcePattern name cannot be kept: {pattern.name!r:.300}"
    if pattern.kind <= ResourceType.ANY:
        return f"Invalid resourceType {pattern.kind.name}"
    if pattern.type not in (PatternType.LITERAL, PatternType.PREFIXED):
        return f"Invalid patternType {pattern.type.name}"
    if entry.operation <= AclOperation.ANY:
        return f"Invalid operation {entry.operation.name}"
    if entry.permission not in (Permission.ALLOW, Permission.DENY):
        return f"Invalid permissionType {entry.permission.name}"
    if ":" not in entry.principal:
        return (
            f"Could not parse principal from `{entry.principal:.300}` (no colon is present separating the principal "
            "type from the principal name)"
        )
    return ""
