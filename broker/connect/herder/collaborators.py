"""The interfaces a herder needs: the group's membership, the fencing of older tasks, the signing of requests."""

from collections.abc import Mapping
from typing import Protocol

from broker.connect.group.wire import Unit


class WorkerMembership(Protocol):
    """What a worker's group says; alone it leads and has everything."""

    @property
    def generation(self) -> int: ...
    @property
    def is_leader(self) -> bool: ...
    @property
    def leader_url(self) -> str: ...
    @property
    def is_sessioned(self) -> bool: ...
    def holds(self) -> bool: ...
    def may_run(self, connector: str) -> bool: ...
    def rejoin(self) -> None: ...


class Fences(Protocol):
    """Needed where sources are exactly once."""

    def ask(self, connector: str) -> None: ...
    def round(self, connector: str) -> None: ...
    def require_current(self, unit: Unit, generation: int) -> None: ...


class Signs(Protocol):
    """Whether a request is of a worker of the group."""

    def require(self, headers: Mapping[str, str], body: bytes) -> None: ...


class Alone:
    generation = 0
    is_leader = True
    leader_url = ""
    is_sessioned = False

    def holds(self) -> bool:
        return True

    def may_run(self, connector: str) -> bool:
        """Return whether the connector may run: there is no other worker, and the herder knows what runs on this
        one.
        """
        return False

    def rejoin(self) -> None:
        return
