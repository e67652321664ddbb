"""Producer ids, handed out from the blocks this broker claims in ZooKeeper. A crash wastes the rest of its block."""

import asyncio
from collections.abc import Iterator

from broker.common.errors import ApiError, ErrorCode
from broker.zookeeper.errors import ZooKeeperError
from broker.zookeeper.store import ClusterStore


class ProducerIds:
    """The ids of one broker's current block."""

    def __init__(self, store: ClusterStore, broker_id: int):
        self._store = store
        self._broker_id = broker_id
        self._block: Iterator[int] = iter(())
        self._given_back: list[int] = []
        self._claiming = asyncio.Lock()

    async def next_id(self) -> int:
        """Return an id never given before; raises ApiError COORDINATOR_LOAD_IN_PROGRESS while ZooKeeper is away."""
        if self._given_back:
            return self._given_back.pop()
        async with self._claiming:
            for producer_id in self._block:
                return producer_id
            try:
                self._block = iter(await self._store.claim_producer_ids(self._broker_id))
            except ZooKeeperError as error:
                raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, f"no producer id block: {error}") from error
            return next(self._block)

    def give_back(self, producer_id: int) -> None:
        """Give back an id that no producer was told and no record names."""
        self._given_back.append(producer_id)
