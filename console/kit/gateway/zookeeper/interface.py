"""What the console may ask of ZooKeeper, and the words it gets for an answer.

Two implementations pass the same tests: `znodes.KazooGateway` speaks to a real ensemble, `fake_zookeeper.FakeZooKeeper`
is in memory. Every call returns within its timeout or raises a `GatewayError`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from broker.zookeeper.ensemble_config import EnsembleConfig, EnsembleMember
from console.kit.gateway.errors import GatewayError

__all__ = [
    "ChildView",
    "EnsembleConfig",
    "EnsembleMember",
    "NoQuorumError",
    "NoSuchZnodeError",
    "NotAllowedError",
    "ReconfigRefusedError",
    "StaleConfigError",
    "ZnodeView",
    "ZooKeeperGateway",
    "ZooKeeperUnreachableError",
]

#: Names of children fetched at once, about 8 MB of them at worst; ZooKeeper has no way to ask for a part.
CHILDREN_LISTED_MAX = 100_000
#: A znode is at most 1 MB unless somebody raised jute.maxbuffer; a larger one is not fetched.
VALUE_BYTES_MAX = 1_048_576


class ZooKeeperUnreachableError(GatewayError):
    """No member answered in time, or they have no quorum. Nothing is known about what was asked."""


class NoSuchZnodeError(GatewayError):
    """There is nothing at this path."""


class NotAllowedError(GatewayError):
    """The znode's access list does not let the console do this."""


class ReconfigRefusedError(GatewayError):
    """The ensemble stays as it was, for certain."""


class StaleConfigError(ReconfigRefusedError):
    """Somebody changed the ensemble since its configuration was read."""


class NoQuorumError(ReconfigRefusedError):
    """Too few of the new members are in sync with the leader yet: ask again."""


@dataclass(frozen=True, slots=True)
class ChildView:
    """A child znode; counts are None if it was deleted meanwhile."""

    name: str
    child_count: int | None
    data_bytes: int | None
    is_ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class ZnodeView:
    """One znode. `value` is None if it is longer than VALUE_BYTES_MAX; `children` are one page of `child_count`.

    `ephemeral_owner` is the id of the session it goes with, 0 for one that stays.
    """

    path: str
    value: bytes | None
    data_bytes: int
    child_count: int
    children: tuple[ChildView, ...]
    version: int
    children_version: int
    acl_version: int
    ephemeral_owner: int
    czxid: int
    mzxid: int
    pzxid: int
    created_at_ms: int
    modified_at_ms: int


class ZooKeeperGateway(Protocol):
    def look(self, path: str, children_from: int = 0, children_count: int = 100) -> ZnodeView:
        """Return the znode at `path` below the cluster's chroot, with `children_count` of its children in natural
        order.

        A znode with more than CHILDREN_LISTED_MAX children comes without any. Raises NoSuchZnodeError.
        """
        ...

    def ensemble(self) -> EnsembleConfig:
        """Return the members that the ensemble has agreed on."""
        ...

    def modes(self, addresses: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        """Return each server's mode at (host, client port): leader, follower, …; those not serving are missing.

        Never raises.
        """
        ...

    def reconfigure(self, joining: Sequence[str], leaving: Sequence[int], from_version: int) -> EnsembleConfig:
        """Change the members in one step, if the configuration still has `from_version`; the new configuration.

        `joining` are lines as `server.4=…`. Raises ReconfigRefusedError when nothing has changed for certain, and
        ZooKeeperUnreachableError when that is not known.
        """
        ...

    def close(self) -> None: ...
