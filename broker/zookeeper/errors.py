"""What ZooKeeper can answer other than yes, in this product's words; kazoo's exceptions end in `session.py`."""

from broker.common.errors import ApiError, BarnabasError, ErrorCode


class ZooKeeperError(BarnabasError):
    """Root of everything a ZooKeeper operation raises. `path` is the znode it was about."""

    def __init__(self, path: str, detail: str = ""):
        super().__init__(f"{path}: {detail}" if detail else path)
        self.path = path


class NodeMissing(ZooKeeperError):
    """The znode, or the parent of the znode to be created, does not exist."""


class NodeExists(ZooKeeperError):
    """The znode to be created exists."""


class NodeNotEmpty(ZooKeeperError):
    """The znode to be deleted has children."""


class WrongVersion(ZooKeeperError):
    """The znode has another version than the one expected: it was written meanwhile."""


class ConnectionInterrupted(ZooKeeperError):
    """The connection broke; whether a write was done is unknown until the znode is read again."""


class SessionLost(ZooKeeperError):
    """The session has expired or is closed; its ephemeral znodes are gone, nothing was written."""


class NotPermitted(ZooKeeperError):
    """The access list of the znode, or of the parent of one to be created or deleted, does not name this session."""


class QuotaExceeded(ZooKeeperError):
    """There is a quota above the znode or for one request, and what was to be written does not fit into it."""


class OperationRefused(ZooKeeperError):
    """ZooKeeper refuses for another reason (bad arguments…); the detail names it."""


def answer_of(error: Exception) -> ApiError:
    """Return the client error for a failed write: what to change, or to retry."""
    if isinstance(error, QuotaExceeded):
        return ApiError(ErrorCode.POLICY_VIOLATION, f"ZooKeeper has no room: {error}")
    return ApiError(ErrorCode.REQUEST_TIMED_OUT, f"ZooKeeper: {str(error) or 'not reached'}")


class MalformedZnode(BarnabasError):
    """The content of a znode is not what Kafka writes there."""


class UnreadableZnode(NotPermitted, MalformedZnode):
    """The access list of the znode keeps its content from this session: that is one znode's matter, as garbage is."""

    def __init__(self, path: str):
        super().__init__(path, "its access list does not let this broker read it")
