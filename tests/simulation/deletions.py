"""A client that deletes records from the beginning of partitions, and then asks where they begin.

What was deleted and acknowledged stays deleted, as far as a replica is concerned that was in sync then and has not died
since: it must have known. (Where a log begins is written to disk now and then only, in Kafka as here. Who has just come
back does not count: until it lags, its leader goes by what it said before it died.)
"""

import asyncio
from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.history import History
from tests.simulation.topics import TRIMMED

_DELETE_VERSION, _LIST_VERSION = 2, 7
_TIMEOUT_MS = 2_000
EARLIEST, _LATEST = -2, -1

#: (broker id, life) of those in sync, as ZooKeeper and the machines have it.
InSync = frozenset[tuple[int, int]]


class Deletions:
    """Of each partition: up to where it was deleted, and who was in sync when that was acknowledged."""

    def __init__(self, history: History):
        self._history = history
        self._acknowledged: dict[TopicPartition, list[tuple[int, InSync]]] = {}

    def acknowledge(self, where: TopicPartition, offset: int, in_sync: InSync) -> None:
        self._acknowledged.setdefault(where, []).append((offset, in_sync))

    def until_now(self, where: TopicPartition) -> list[tuple[int, InSync]]:
        return list(self._acknowledged.get(where, ()))

    def begins(self, where: TopicPartition, begins_at: int, broker_id: int, life: int, known: list) -> None:
        """That broker says where the log begins; `known`: what was acknowledged when it was asked."""
        for offset, in_sync in known:
            if begins_at < offset and (broker_id, life) in in_sync:
                self._history.violate(
                    f"broker-{broker_id}: {where} begins at {begins_at}, though what is before {offset} was deleted "
                    f"while it was in sync, and it has not died since"
                )
                self._acknowledged[where].clear()
                return


class Deleter:
    def __init__(
        self,
        name: str,
        client: ClusterClient,
        deletions: Deletions,
        in_sync_of: Callable[[TopicPartition], InSync],
        life_of: Callable[[int], int],
    ):
        self._name = name
        self._client = client
        self._deletions = deletions
        self._in_sync_of = in_sync_of
        self._life_of = life_of
        self.is_stopping = False
        #: Whether all that is committed is to be deleted next.
        self.wants_all = False

    async def run(self) -> None:
        random = self._client.random
        while not self.is_stopping:
            await asyncio.sleep(random.uniform(0.05, 0.4))
            await self._client.refresh([TRIMMED])
            for where in sorted(self._client.leaders):
                await self._look_at(where)
                if random.random() < 0.2 or self.wants_all:
                    await self._delete(where)

    async def _look_at(self, where: TopicPartition) -> None:
        known = self._deletions.until_now(where)
        earliest = await list_offset(self._client, where, EARLIEST)
        if earliest is not None:
            begins_at, broker_id = earliest
            self._deletions.begins(where, begins_at, broker_id, self._life_of(broker_id), known)

    async def _delete(self, where: TopicPartition) -> None:
        latest = await list_offset(self._client, where, _LATEST)
        earliest = await list_offset(self._client, where, EARLIEST)
        if latest is None or earliest is None or latest[0] <= earliest[0]:
            return
        offset = latest[0] if self.wants_all else self._client.random.randint(earliest[0], latest[0])
        self.wants_all = False
        partition = DeleteRecordsPartition(partition_index=where.partition, offset=offset)
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name=where.topic, partitions=[partition])], timeout_ms=_TIMEOUT_MS
        )
        leader = self._client.leaders[where]
        try:
            response = await self._client.ask(leader.broker_id, request, _DELETE_VERSION)
        except NoAnswerError:
            return
        answer = response.topics[0].partitions[0]
        if answer.error_code == ErrorCode.NONE:
            self._deletions.acknowledge(where, offset, self._in_sync_of(where))


async def list_offset(client: ClusterClient, where: TopicPartition, what: int) -> tuple[int, int] | None:
    """The offset, and the broker that told it; None if nobody does."""
    leader = client.leaders.get(where)
    if leader is None or leader.broker_id < 0:
        return None
    partition = ListOffsetsPartition(
        partition_index=where.partition, current_leader_epoch=leader.leader_epoch, timestamp=what
    )
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name=where.topic, partitions=[partition])])
    try:
        response = await client.ask(leader.broker_id, request, _LIST_VERSION)
    except NoAnswerError:
        return None
    answer = response.topics[0].partitions[0]
    return None if answer.error_code else (answer.offset, leader.broker_id)
