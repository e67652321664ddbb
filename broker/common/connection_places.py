"""Which connection of a server gives way to a new one when all places are taken. Pure."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)


class ConnectionPlaces(Generic[C]):
    """The open connections of one server by client address, each address's longest idle one first.

    A full server evicts from the address with the most connections, so that no address keeps another one out, and an
    address at its own bound evicts from itself. Connections whose request is being answered are evicted last: behind
    one address may be a proxy, and a change whose answer is lost may have been made.
    """

    def __init__(self, most: int, per_address: int, is_answering: Callable[[C], bool] = lambda _connection: False):
        self._most, self._per_address, self._is_answering = most, per_address, is_answering
        self._by_address: OrderedDict[str, OrderedDict[C, None]] = OrderedDict()
        self._count = 0

    def take(self, address: str, connection: C) -> C | None:
        """Give the connection a place. Return the one that has to be closed for it, None while there was room."""
        evicted = None
        crowded = self._crowded(address)
        if crowded is not None:
            connections = self._by_address[crowded]
            idle = (connection for connection in connections if not self._is_answering(connection))
            evicted = next(idle, None) or next(iter(connections))
            self.release(crowded, evicted)
        self._by_address.setdefault(address, OrderedDict())[connection] = None
        self._count += 1
        return evicted

    def touch(self, address: str, connection: C) -> None:
        """Count the connection as the last one of its address to become idle. Nothing happens without a place."""
        if connection in self._by_address.get(address, ()):
            self._by_address[address].move_to_end(connection)
            # Of two addresses with as many connections, the one that was silent for longer gives way.
            self._by_address.move_to_end(address)

    def release(self, address: str, connection: C) -> None:
        """Idempotent: a second call does nothing."""
        if connection in self._by_address.get(address, ()):
            del self._by_address[address][connection]
            self._count -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def _crowded(self, address: str) -> str | None:
        """Return the address that gives up a connection for one of `address`, None while there is room."""
        if len(self._by_address.get(address, ())) >= self._per_address:
            return address
        if self._count < self._most:
            return None
        return max(self._by_address, key=lambda other: (len(self._by_address[other]), other == address))
