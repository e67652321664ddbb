"""A client that reads what transactions committed, over and over."""

import asyncio

from broker.common.types import TopicPartition
from tests.simulation.client import ClusterClient
from tests.simulation.committed_reads import fetch_committed
from tests.simulation.isolation import Transactions
from tests.simulation.topics import LEDGER


class LedgerReader:
    def __init__(self, name: str, client: ClusterClient, transactions: Transactions):
        self._name = name
        self._client = client
        self._transactions = transactions
        self._positions: dict[TopicPartition, int] = {}
        self.is_stopping = False

    async def run(self) -> None:
        random = self._client.random
        while not self.is_stopping:
            await asyncio.sleep(random.uniform(0.1, 0.5))
            await self._client.refresh([LEDGER])
            for where in sorted(self._client.leaders):
                committed = await fetch_committed(self._client, where, self._positions.get(where, 0))
                if committed is None:
                    continue
                records, self._positions[where] = committed
                for record in records:
                    self._transactions.see(self._name, record.value.decode())
            if random.random() < 0.05:
                self._positions.clear()
