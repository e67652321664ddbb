"""An ensemble in memory that answers as a real one: for tests of everything above the gateway."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from broker.zookeeper.ensemble_config import EnsembleConfig, parse_config
from console.kit.common.natural_order import natural_order
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.zookeeper.interface import (
    CHILDREN_LISTED_MAX,
    VALUE_BYTES_MAX,
    ChildView,
    NoSuchZnodeError,
    StaleConfigError,
    ZnodeView,
    ZooKeeperUnreachableError,
)

FIRST_MEMBER = "server.1=127.0.0.1:2888:3888:participant;127.0.0.1:2181"


@dataclass
class FakeZnode:
    value: bytes
    ephemeral_owner: int
    zxid: int
    modified_at_ms: int
    version: int = 0


class FakeZooKeeper:
    """Starts with the root and one member; tests fill it with `put`, and move it with `cut_off` and `refuse_next`."""

    def __init__(self, clock_ms: Callable[[], int], members: Sequence[str] = (FIRST_MEMBER,)):
        self._now_ms = clock_ms
        self._zxid = 1
        self._znodes: dict[str, FakeZnode] = {"/": FakeZnode(b"", 0, 0, clock_ms())}
        self._members = {_number_of(line): line for line in members}
        self._version = 1
        self._is_cut_off = False
        leader = parse_config("\n".join(members)).members[0]
        #: What the servers at these addresses say they are.
        self._modes = {(leader.client_host, leader.client_port): "leader"}
        self._refusals: list[GatewayError] = []

    # What the console asks -------------------------------------------------------------------------------------------

    def look(self, path: str, children_from: int = 0, children_count: int = 100) -> ZnodeView:
        self._answer()
        znode = self._znodes.get(path)
        if znode is None:
            raise NoSuchZnodeError(f"There is no znode {path}.")
        names = self._names_below(path)
        listed = names[children_from : children_from + children_count] if len(names) <= CHILDREN_LISTED_MAX else []
        return ZnodeView(
            path=path,
            value=znode.value if len(znode.value) <= VALUE_BYTES_MAX else None,
            data_bytes=len(znode.value),
            child_count=len(names),
            children=tuple(self._child(path, name) for name in listed),
            version=znode.version,
            children_version=len(names),
            acl_version=0,
            ephemeral_owner=znode.ephemeral_owner,
            czxid=znode.zxid,
            mzxid=znode.zxid + znode.version,
            pzxid=znode.zxid,
            created_at_ms=znode.modified_at_ms,
            modified_at_ms=znode.modified_at_ms,
        )

    def ensemble(self) -> EnsembleConfig:
        self._answer()
        lines = [*self._members.values(), f"version={self._version:x}"]
        return parse_config("\n".join(lines))

    def modes(self, addresses: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
        return {address: self._modes[address] for address in addresses if address in self._modes}

    def reconfigure(self, joining: Sequence[str], leaving: Sequence[int], from_version: int) -> EnsembleConfig:
        self._answer()
        if self._refusals:
            raise self._refusals.pop(0)
        if from_version != self._version:
            raise StaleConfigError("The ensemble was changed by another client meanwhile.")
        self._members |= {_number_of(line): line for line in joining}
        for number in leaving:
            self._members.pop(number, None)
        self._version += 1
        return self.ensemble()

    def close(self) -> None:
        """Nothing is open."""

    # What tests do ---------------------------------------------------------------------------------------------------

    def put(self, path: str, value: bytes = b"", ephemeral_owner: int = 0) -> None:
        """Write a znode; those above it are made if they are missing."""
        parent = path.rpartition("/")[0]
        if parent and parent not in self._znodes:
            self.put(parent)
        known = self._znodes.get(path)
        self._zxid += 1
        version = known.version + 1 if known else 0
        zxid = known.zxid if known else self._zxid
        self._znodes[path] = FakeZnode(value, ephemeral_owner, zxid, self._now_ms(), version)

    def put_all(self, values: Mapping[str, bytes]) -> None:
        for path, value in values.items():
            self.put(path, value)

    def cut_off(self) -> None:
        """From now on nobody answers."""
        self._is_cut_off = True

    def come_back(self) -> None:
        self._is_cut_off = False

    def serve(self, address: tuple[str, int], mode: str = "follower") -> None:
        """A server at `address` runs and has all data."""
        self._modes[address] = mode

    def fall_silent(self, address: tuple[str, int]) -> None:
        self._modes.pop(address, None)

    def refuse_next(self, error: GatewayError) -> None:
        """The next reconfig is refused with `error`."""
        self._refusals.append(error)

    # Underneath ------------------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        if self._is_cut_off:
            raise ZooKeeperUnreachableError(
                "ZooKeeper does not answer: no member can be reached, or they have no quorum."
            )

    def _names_below(self, path: str) -> list[str]:
        prefix = path.rstrip("/") + "/"
        below = (znode[len(prefix) :] for znode in self._znodes if znode.startswith(prefix) and znode != "/")
        return sorted((name for name in below if "/" not in name), key=natural_order)

    def _child(self, path: str, name: str) -> ChildView:
        child = f"{path.rstrip('/')}/{name}"
        znode = self._znodes[child]
        return ChildView(name, len(self._names_below(child)), len(znode.value), bool(znode.ephemeral_owner))


def _number_of(line: str) -> int:
    return int(line.partition("=")[0].removeprefix("server."))
