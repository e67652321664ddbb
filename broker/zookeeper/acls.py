"""ACLs of znodes: Kafka's rules for `zookeeper.set.acl` (ZkData.defaultAcls of Kafka 3.9). Pure.

What a broker creates belongs to its user: that user may do everything, everybody else may read. At and below a
sensitive path nobody else may even read. /consumers, which Kafka leaves open for consumers older than 0.9, is no
exception here.
"""

from typing import Any

from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

#: What lies here or below may hold passwords and keys: none but the cluster's own user reads it.
SENSITIVE_PATHS = ("/config/users", "/config/brokers", "/delegation_token/tokens", "/barnabas/secret")

#: What a znode has that nobody protected.
OPEN = tuple(OPEN_ACL_UNSAFE)
#: `auth` stands for whoever the session has shown itself to be; ZooKeeper writes that user's name instead.
_OWNERS = tuple(CREATOR_ALL_ACL)
_OWNERS_READ_BY_ALL = (*CREATOR_ALL_ACL, *READ_ACL_UNSAFE)


def is_sensitive(path: str) -> bool:
    """Return whether the znode holds secrets. `path` is without the chroot."""
    return any(path == root or path.startswith(f"{root}/") for root in SENSITIVE_PATHS)


def acl_of(path: str) -> tuple[Any, ...]:
    """Return the access list of a protected cluster's znode; `path` without the chroot."""
    return _OWNERS if is_sensitive(path) else _OWNERS_READ_BY_ALL
