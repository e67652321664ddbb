"""What somebody without the cluster's digest may do in its ZooKeeper, znode by znode; nothing is changed by trying."""

from collections.abc import Callable, Iterator

from kazoo.client import KazooClient
from kazoo.exceptions import BadArgumentsError, KazooException, NoAuthError, NoNodeError
from kazoo.security import OPEN_ACL_UNSAFE

#: ZooKeeper looks at access lists first: who is told that it is wrong might have done it.
_NO_VERSION = 2**30


def all_paths(owner: KazooClient, path: str = "/") -> Iterator[str]:
    yield path
    try:
        names = owner.get_children(path)
    except NoNodeError:
        return
    for name in names:
        yield from all_paths(owner, f"{path.rstrip('/')}/{name}")


def allowed(outsider: KazooClient, path: str) -> set[str]:
    """Of reading, listing, writing, deleting, adding and opening to all: what is not refused."""
    child = f"{path.rstrip('/')}/intruder"
    tries: dict[str, Callable[[], object]] = {
        "read": lambda: outsider.get(path),
        "list": lambda: outsider.get_children(path),
        "write": lambda: outsider.set(path, b"theirs", _NO_VERSION),
        "delete": lambda: outsider.delete(path, _NO_VERSION),
        "add": lambda: outsider.create(child, b"", ephemeral=True),
        "open": lambda: outsider.set_acls(path, OPEN_ACL_UNSAFE, _NO_VERSION),
    }
    return {name for name, act in tries.items() if path != "/" or name != "delete" if not _is_refused(act)}


def _is_refused(act: Callable[[], object]) -> bool:
    """What is gone meanwhile, and what ZooKeeper lets nobody do (delete its own /zookeeper), is refused, too."""
    try:
        act()
    except (NoAuthError, NoNodeError, BadArgumentsError):
        return True
    except KazooException:  # the version, or children: access was not the reason
        return False
    return False
