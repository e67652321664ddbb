"""What ZooKeeper's shell prints of znodes, to the letter of ZooKeeper 3.9. Pure."""

import time
from collections.abc import Iterable

from broker.cli.frame.declaration import CommandError
from broker.zookeeper import errors
from broker.zookeeper.session import ZnodeFacts

CONNECTED = "\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null zxid: -1"
CLOSED = "\nWATCHER::\n\nWatchedEvent state:Closed type:None path:null zxid: -1"

_REFUSALS: tuple[tuple[type[errors.ZooKeeperError], str], ...] = (
    (errors.NodeMissing, "Node does not exist: "),
    (errors.NodeExists, "Node already exists: "),
    (errors.NodeNotEmpty, "Node not empty: "),
    (errors.WrongVersion, "version No is not valid : "),
    (errors.NotPermitted, "Insufficient permission : "),
    (errors.QuotaExceeded, "Quota has exceeded : "),
    (errors.ConnectionInterrupted, "KeeperErrorCode = ConnectionLoss for "),
    (errors.SessionLost, "KeeperErrorCode = Session expired for "),
    (errors.OperationRefused, "Arguments are not valid : "),
)


def names_line(names: Iterable[str]) -> str:
    return f"[{', '.join(sorted(names))}]"


def data_text(data: bytes | None) -> str:
    """Return the data as text; `null` for a znode that was created without any."""
    return "null" if data is None else data.decode(errors="replace")


def facts_lines(facts: ZnodeFacts) -> list[str]:
    """Format a znode's metadata as `stat` does."""
    shown = (
        ("cZxid", hex(facts.czxid)),
        ("ctime", _date(facts.ctime_ms)),
        ("mZxid", hex(facts.mzxid)),
        ("mtime", _date(facts.mtime_ms)),
        ("pZxid", hex(facts.pzxid)),
        ("cversion", facts.children_version),
        ("dataVersion", facts.data_version),
        ("aclVersion", facts.acl_version),
        ("ephemeralOwner", hex(facts.ephemeral_owner & 0xFFFFFFFFFFFFFFFF)),
        ("dataLength", facts.data_length),
        ("numChildren", facts.child_count),
    )
    return [f"{name} = {value}" for name, value in shown]


def _date(ms: int) -> str:
    """Format a time as Java's Date, in this machine's zone."""
    return time.strftime("%a %b %d %H:%M:%S %Z %Y", time.localtime(ms // 1000))


def refusal(error: errors.ZooKeeperError, path: str) -> CommandError:
    """Return the error. `path` is as typed, without the chroot."""
    words = next((words for kind, words in _REFUSALS if isinstance(error, kind)), f"{error} ")
    return CommandError(f"{words}{path}")


def check_path(path: str) -> None:
    """Raises CommandError."""
    if not path.startswith("/"):
        raise CommandError("Path must start with / character")
    if path != "/" and path.endswith("/"):
        raise CommandError("Path must not end with / character")
    if any(part in ("", ".", "..") for part in path[1:].split("/")) and path != "/":
        raise CommandError(f'Invalid path string "{path}": a name in it is empty, or a dot')
    if "\0" in path:
        raise CommandError(f"Invalid path string {path!r}: null character not allowed")
