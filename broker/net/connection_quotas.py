"""How many connections a broker has on all its listeners, and whether there may be one more (KIP-402, KIP-612).

Of several listeners the one between brokers is protected: while the broker is full its connections are admitted, and
the one of another listener that was used least recently makes room.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from broker.net.creation_rate import CreationRate


class ConnectionLimits(NamedTuple):
    """How many connections there may be at a time: in all, from one address, from single addresses that are named."""

    total: int
    per_address: int = 2**31 - 1
    of_address: Mapping[str, int] = MappingProxyType({})
    #: Of a protected listener, whatever `total` says.
    ceiling: int = 2**31 - 1


class AddressRates(Protocol):
    """How often single addresses may connect."""

    def delay_s(self, address: str) -> float:
        """Return how long a new connection is held before it is closed; 0 if it is welcome."""


class Limited(Protocol):
    """A listener as its broker's quotas see it."""

    @property
    def name(self) -> str: ...
    @property
    def connection_count(self) -> int: ...
    @property
    def connections_max(self) -> int: ...
    @property
    def creation_rate(self) -> CreationRate: ...

    def close_a_silent_one(self) -> bool: ...
    def close_least_recently_used(self) -> bool: ...


class ConnectionQuotas:
    """One for all listeners of a broker, which tell it of each connection they admit and lose."""

    def __init__(self, limits: ConnectionLimits, inter_broker_listener: str = ""):
        #: May be replaced at any time; who is connected stays.
        self.limits = limits
        self.creation_rate = CreationRate()
        self.address_rates: AddressRates | None = None
        self.total = 0
        self._inter_broker_listener = inter_broker_listener
        self._listeners: list[Limited] = []
        self._of_address: Counter[str] = Counter()

    def add_listener(self, listener: Limited) -> None:
        self._listeners.append(listener)

    def remove_listener(self, listener: Limited) -> None:
        """Idempotent: a second call does nothing."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def is_protected(self, listener: Limited) -> bool:
        return listener.name == self._inter_broker_listener and len(self._listeners) > 1

    def wait_s(self, listener: Limited, now_s: float) -> float:
        """Return how long the listener must wait before it accepts another connection."""
        return max(rate.wait_s(now_s) for rate in self._rates(listener))

    def accepted(self, listener: Limited) -> None:
        for rate in self._rates(listener):
            rate.take()

    def _rates(self, listener: Limited) -> tuple[CreationRate, ...]:
        """Return the rates that count for a listener; a protected one has only its own."""
        own = listener.creation_rate
        return (own,) if self.is_protected(listener) else (own, self.creation_rate)

    def limit_reached(self, listener: Limited, address: str) -> str:
        """Return the key whose limit refuses one more connection, after others have made room if they can; empty: it is
        accepted.
        """
        total, per_address, of_address, _ = self.limits
        if self._of_address[address] >= of_address.get(address, per_address):
            return "max.connections.per.ip"
        if listener.connection_count >= listener.connections_max and not listener.close_a_silent_one():
            return "max.connections"
        if self.total >= total and not self._make_room(listener):
            return "max.connections"
        return ""

    def _make_room(self, newcomer: Limited) -> bool:
        is_protected = self.is_protected(newcomer)
        others = [listener for listener in self._listeners if not self.is_protected(listener)]
        for other in sorted(others, key=lambda one: -one.connection_count):
            if other.close_a_silent_one() or (is_protected and other.close_least_recently_used()):
                return True
        return is_protected and self.total < self.limits.ceiling

    def admitted(self, address: str) -> None:
        self.total += 1
        self._of_address[address] += 1

    def lost(self, address: str) -> None:
        self.total -= 1
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]
