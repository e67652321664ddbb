"""Connections to brokers that are used again: looks do not connect, log in and ask for versions every few seconds.

One that was used lately and is as its broker left it is lent to one at a time. One on which anything failed is closed
by itself, and is not kept. One that speaks as a member of the cluster may more than the console, and is lent to who
asks as that member only.
"""

import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import NamedTuple

from broker.client.cluster import ClusterConnections
from broker.client.connection import BrokerConnection
from broker.client.security.properties import ClientSecurity
from broker.common.readable import readable
from broker.security.membership import ClusterMembership

#: Brokers close what is idle for ten minutes; between two looks there are seconds.
IDLE_MAX_S = 60.0
KEPT_MAX = 64


class _Use(NamedTuple):
    where: tuple[str, int]
    security: ClientSecurity
    membership: ClusterMembership | None


class KeptConnections:
    """Threads share it. `connect(host, port, timeout_s, security)` makes one."""

    def __init__(
        self,
        connect: Callable[[str, int, float, ClientSecurity], BrokerConnection],
        clock: Callable[[], float] = time.monotonic,
    ):
        self._connect, self._clock = connect, clock
        self._lock = threading.Lock()
        #: The one used last comes last.
        self._idle: list[tuple[_Use, float, BrokerConnection]] = []

    def lend(
        self,
        host: str,
        port: int,
        timeout_s: float,
        security: ClientSecurity,
        membership: ClusterMembership | None = None,
    ) -> "Lent":
        """Lend a connection, with a `membership` if it is for requests between members.

        Raises as BrokerConnection does.
        """
        kept = self.lend_kept(host, port, timeout_s, security, membership)
        if kept is not None:
            return kept
        use = _Use((host, port), security, membership)
        return self._lent(use, self._connect(host, port, timeout_s, security), timeout_s)

    def lend_kept(
        self,
        host: str,
        port: int,
        timeout_s: float,
        security: ClientSecurity,
        membership: ClusterMembership | None = None,
    ) -> "Lent | None":
        """Lend an open connection; None if there is none."""
        use = _Use((host, port), security, membership)
        kept = self._taken(use)
        return None if kept is None else self._lent(use, kept, timeout_s)

    def _lent(self, use: "_Use", connection: BrokerConnection, timeout_s: float) -> "Lent":
        connection.timeout_s = timeout_s
        return Lent(connection, lambda: self._give_back(use, connection))

    def _taken(self, use: "_Use") -> BrokerConnection | None:
        with self._lock:
            self._close_old()
            fitting = [at for at, item in enumerate(self._idle) if item[0] == use]
            connection = self._idle.pop(fitting[-1])[2] if fitting else None
        if connection is not None and readable(connection.fileno(), 0):
            # Nothing was asked: its broker has hung up.
            connection.close()
            return None
        return connection

    def _give_back(self, use: "_Use", connection: BrokerConnection) -> None:
        if not connection.is_at_rest or connection.is_member != (use.membership is not None):
            connection.close()
            return
        with self._lock:
            self._idle.append((use, self._clock(), connection))
            self._close_old()

    def _close_old(self) -> None:
        oldest = self._clock() - IDLE_MAX_S
        kept = [item for item in self._idle if item[1] >= oldest][-KEPT_MAX:]
        for pair in self._idle:
            if pair not in kept:
                pair[2].close()
        self._idle = kept


class Lent:
    """A connection in a `with` block, which gives it back."""

    def __init__(self, connection: BrokerConnection, give_back: Callable[[], None]):
        self.connection, self.give_back = connection, give_back

    def __enter__(self) -> BrokerConnection:
        return self.connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()


class LendingCluster(ClusterConnections):
    """A cluster whose connections are borrowed until `close`."""

    def __init__(
        self,
        bootstrap_servers: Iterable[tuple[str, int]],
        kept: KeptConnections,
        security: ClientSecurity,
        timeout_s: float,
    ):
        super().__init__(bootstrap_servers, timeout_s=timeout_s, security=security)
        self._kept, self._lent = kept, dict[tuple[str, int], Lent]()
        self._with = security, timeout_s

    def connection(self, host: str, port: int, *, in_order: bool = False) -> BrokerConnection:
        if (host, port) not in self._connections:
            security, timeout_s = self._with
            lent = self._lent[host, port] = self._kept.lend(host, port, timeout_s, security)
            self._connections[host, port] = [lent.connection]
        return self._connections[host, port][0]

    def close(self) -> None:
        """Close the connection unless it was forgotten, and so closed, meanwhile."""
        for lent in self._lent.values():
            lent.give_back()
        self._lent.clear()
        self._connections.clear()
