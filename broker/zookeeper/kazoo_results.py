"""The types of what kazoo, which has no annotations, returns: results, facts of znodes; and our errors for its own."""

from collections.abc import Callable
from typing import Any, Protocol

from kazoo import exceptions as kazoo_errors

from broker.zookeeper.errors import (
    ConnectionInterrupted,
    NodeExists,
    NodeMissing,
    NodeNotEmpty,
    NotPermitted,
    OperationRefused,
    QuotaExceeded,
    SessionLost,
    WrongVersion,
    ZooKeeperError,
)


class KazooStat(Protocol):
    """All that is known of a znode besides its content."""

    czxid: int
    mzxid: int
    pzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    aversion: int
    ephemeralOwner: int
    dataLength: int
    numChildren: int


class KazooResult(Protocol):
    """An operation that kazoo has begun. `value` may be read when it was `successful`, else `exception` is there."""

    value: Any
    exception: BaseException

    def successful(self) -> bool: ...

    def rawlink(self, callback: "Callable[[KazooResult], None]") -> None: ...


#: How ZooKeeper marks the operations of a transaction that failed only because another one did.
CONSEQUENCES = (kazoo_errors.RolledBackError, kazoo_errors.RuntimeInconsistency)

_TRANSLATIONS = (
    (kazoo_errors.NoNodeError, NodeMissing),
    (kazoo_errors.NodeExistsError, NodeExists),
    (kazoo_errors.NotEmptyError, NodeNotEmpty),
    (kazoo_errors.BadVersionError, WrongVersion),
    (kazoo_errors.NoAuthError, NotPermitted),
    (kazoo_errors.QuotaExceededError, QuotaExceeded),
    (kazoo_errors.ConnectionLoss, ConnectionInterrupted),
    (kazoo_errors.OperationTimeoutError, ConnectionInterrupted),
    ((kazoo_errors.SessionExpiredError, kazoo_errors.ConnectionClosedError), SessionLost),
)


def translated(error: BaseException, path: str) -> ZooKeeperError:
    """Return the error that the session raises instead of kazoo's."""
    for theirs, ours in _TRANSLATIONS:
        if isinstance(error, theirs):
            return ours(path, type(error).__name__)
    return OperationRefused(path, f"{type(error).__name__} {error}".strip())
