"""What a rule must be to be kept (AclApis and AuthorizerUtils of Kafka), told in one sentence. Pure."""

import re

from broker.security.acls.model import Binding, PatternType, Permission
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType

#: What ZooKeeper refuses in the name of a znode.
_NO_ZNODE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")


def refusal_of(binding: Binding) -> str:
    """Why there cannot be such a rule; empty if there can."""
    pattern, entry = binding
    if pattern.kind is ResourceType.CLUSTER and pattern.name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    if not pattern.name:
        return "Invalid empty resource name"
    if "/" in pattern.name:
        return f"ResourcePattern name contains '/': {pattern.name:.300}"
    if pattern.name in (".", "..") or _NO_ZNODE.search(pattern.name):
        return f"ResourcePattern name cannot be kept: {pattern.name!r:.300}"
    if pattern.kind <= ResourceType.ANY or pattern.type not in (PatternType.LITERAL, PatternType.PREFIXED):
        return "A rule is about one type of resources, and about a literal name or a prefix"
    if entry.operation <= AclOperation.ANY or entry.permission not in (Permission.ALLOW, Permission.DENY):
        return "A rule allows or denies one operation, or all of them"
    return ""
