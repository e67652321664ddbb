"""A client that copies records and commits how far it has come in the same transaction."""

import asyncio

from broker.common.types import TopicPartition
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from broker.records.record import Record
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.simulation.committed_offsets import CommittedOffsets, fetch_offsets
from tests.simulation.committed_reads import fetch_committed
from tests.simulation.coordinated import CoordinatorLine
from tests.simulation.isolation import COMMITTED
from tests.simulation.transactions import Failed, TransactionalProducer

#: 5: the coordinator adds the group's offsets to the transaction.
_COMMIT_VERSIONS = {False: 3, True: 5}


class Copier(TransactionalProducer):
    """Copies a partition of `source` record by record into the ledger, and the group's offset in the same transaction.

    The key of a copy names the record it was made from, so that each must be there once.
    """

    def __init__(self, *arguments, source: TopicPartition, offsets: CommittedOffsets):
        super().__init__(*arguments)
        self._source = source
        self._offsets = offsets
        self.group = f"{self._name}-group"
        self._group = CoordinatorLine(self._client, CoordinatorType.GROUP, self.group)
        self._position = -1
        self._commits = 0

    async def run(self) -> None:
        await super().run()
        while await self._find_position() is None:
            await asyncio.sleep(0.1)
        self._history.add(self._name, "has copied", source=self._source, up_to=self._position)

    async def _initialise(self) -> bool:
        """After anything went wrong it goes by what the group has committed."""
        self._position = -1
        return await super()._initialise()

    async def _find_position(self) -> int | None:
        offsets = await fetch_offsets(self._group, self._offsets, self.group, self._source.topic, require_stable=True)
        if offsets is not None:
            self._position = max(0, offsets.get(self._source, -1))
        return None if offsets is None else self._position

    async def _fill(self) -> None:
        if self._position < 0 and await self._find_position() is None:
            raise Failed("where to go on is not known")
        committed = await fetch_committed(self._client, self._source, self._position, max_bytes=300)
        if not committed or not committed[0]:
            raise Failed("nothing to copy")
        records, next_position = committed
        where = self._random.choice(self._ledger())
        await self._cover([where])
        await self._write(where, [self._copy(where, record) for record in records])
        await self._commit_position(next_position)
        self._position = next_position

    def _copy(self, where: TopicPartition, record: Record) -> Record:
        return self._new_record(where)._replace(key=f"{self._source}@{record.offset}".encode())

    async def _commit_position(self, position: int) -> None:
        producer_id, epoch = self._producer
        if not self._raises_epoch:
            covered = AddOffsetsToTxnRequest(
                transactional_id=self._name, producer_id=producer_id, producer_epoch=epoch, group_id=self.group
            )
            await self.ask_until_done(self._coordinator, covered, 3, lambda response: response.error_code)
        self._commits += 1
        metadata = f"{self._name}#{self._commits}"
        partition = TxnOffsetCommitRequestPartition(
            partition_index=self._source.partition, committed_offset=position, committed_metadata=metadata
        )
        request = TxnOffsetCommitRequest(
            transactional_id=self._name,
            group_id=self.group,
            producer_id=producer_id,
            producer_epoch=epoch,
            topics=[TxnOffsetCommitRequestTopic(name=self._source.topic, partitions=[partition])],
        )
        version = _COMMIT_VERSIONS[self._raises_epoch]
        await self.ask_until_done(
            self._group, request, version, lambda response: response.topics[0].partitions[0].error_code
        )
        self._holdings.judge_fact(
            OFFSETS_TOPIC, ("commit", self.group, metadata), f"{self._name} hears TxnOffsetCommit succeed"
        )

    async def _end(self, *, is_commit: bool) -> None:
        await super()._end(is_commit=is_commit)
        if self._current.outcome == COMMITTED:
            metadata = f"{self._name}#{self._commits}"
            self._offsets.acknowledge(self.group, self._source, self._position, metadata)
        else:
            self._position = -1
