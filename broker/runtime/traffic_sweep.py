"""Ends the windows of what clients write and read, and forgets clients that are silent, again and again."""

import asyncio

from broker.common.security_limits import CLIENT_TRAFFIC_WINDOW_MS
from broker.net.turns import Turns
from broker.runtime.in_turns import in_turns
from broker.runtime.periodic import rounds
from broker.security.client_traffic import TrafficCounters


class TrafficSweep:
    """Sweeps from `start` to `stop`."""

    def __init__(self, traffic: TrafficCounters, turns: Turns):
        self.traffic = traffic
        self._turns = turns

    def start(self) -> None:
        self._task = asyncio.create_task(rounds(self._sweep_after_a_window))

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _sweep_after_a_window(self) -> None:
        await asyncio.sleep(CLIENT_TRAFFIC_WINDOW_MS / 1_000)
        await self.sweep()

    async def sweep(self) -> None:
        """Sweep all clients once, yielding to others between them."""
        traffic = self.traffic
        idle_max_ms = traffic.idle_max_ms()
        clients = [*traffic.clients(), traffic.others]
        await in_turns(clients, lambda client: traffic.sweep(client, idle_max_ms), self._turns, size_of=len)
