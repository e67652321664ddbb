"""How long a target that has a quota for us wants to be left alone, and what is told of one that is slow.

A broker that answers with a throttle time does not read that connection for so long (KIP-219). Who sent more would take
it for one that hangs, and come back by a new connection, past the quota.
"""

import time
from collections.abc import Callable

from broker.client.leaders import Address

#: A transaction has to end before its time is over, whatever the quota: then a new connection is taken.
TRANSACTION_WAITS_S = 30.0
#: What is shorter is nothing to tell; what was told is told a while longer.
_TOLD_FROM_S, _TOLD_FOR_S = 1.0, 10.0


class ThrottleState:
    """Throttle state of the connections of one hand."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._until: dict[Address, float] = {}
        self._last_s = float("-inf")

    def throttled(self, address: Address, throttle_s: float) -> None:
        if throttle_s > 0:
            self._until[address] = self._clock() + throttle_s
        if throttle_s >= _TOLD_FROM_S:
            self._last_s = self._until[address]

    def ends_at(self, address: Address) -> float:
        """Return when the throttle of the address ends, by the clock; before now if it has."""
        return self._until.get(address, float("-inf"))

    def forget(self, address: Address) -> None:
        """Forget the address: its connection is a new one."""
        self._until.pop(address, None)

    @property
    def is_tried(self) -> bool:
        return self._clock() < self._last_s + _TOLD_FOR_S
