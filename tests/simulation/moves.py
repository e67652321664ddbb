"""A client that moves partitions, above all away from brokers that are down, and calls some moves off."""

import asyncio

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.history import History
from tests.simulation.topics import REPLICATION_FACTOR

_VERSION = 0
_TIMEOUT_MS = 2_500
_CANCELLED_SHARE = 0.15
_RESCUED_SHARE = 0.7


class Mover:
    def __init__(self, name: str, client: ClusterClient, history: History):
        self._name = name
        self._client = client
        self._history = history
        self.is_stopping = False
        #: Asked for next.
        self.wishes: list[tuple[TopicPartition, list[int]]] = []

    async def run(self) -> None:
        while not self.is_stopping:
            await asyncio.sleep(self._client.random.uniform(0.5, 4))
            if await self._client.refresh() and self._client.replicas:
                await self._move(*self._draw())

    def _draw(self) -> tuple[TopicPartition, list[int] | None]:
        if self.wishes:
            return self.wishes.pop()
        random, replicas = self._client.random, self._client.replicas
        where = random.choice(sorted(replicas))
        if random.random() < _CANCELLED_SHARE:
            return where, None
        alive = sorted(self._client.alive)
        hurt = sorted(item for item, hosts in replicas.items() if not set(hosts) <= set(alive))
        if hurt and random.random() < _RESCUED_SHARE:
            where = random.choice(hurt)
            return where, random.sample(alive, min(REPLICATION_FACTOR, len(alive)))
        return where, random.sample(self._client.broker_ids, REPLICATION_FACTOR)

    async def _move(self, where: TopicPartition, target: list[int] | None) -> None:
        """What is on its way at the end of the run must arrive, so targets are as many as the topic began with."""
        if target is not None and len(target) < REPLICATION_FACTOR:
            return
        moved = ReassignablePartition(partition_index=where.partition, replicas=target)
        topic = ReassignableTopic(name=where.topic, partitions=[moved])
        request = AlterPartitionReassignmentsRequest(timeout_ms=_TIMEOUT_MS, topics=[topic])
        try:
            response = await self._client.ask_controller(request, _VERSION)
        except NoAnswerError:
            return
        code = response.error_code or response.responses[0].partitions[0].error_code
        self._history.add(self._name, "moves", partition=where, target=target, outcome=ErrorCode(code).name)
