"""Clients that write. Every value is written under one name once: `producer/partition/number`."""

import asyncio
from dataclasses import dataclass

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import NO_PRODUCER_ID
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.history import History
from tests.simulation.holdings import Holdings
from tests.simulation.topics import COMPACTED

_PRODUCE_VERSION = 9
_INIT_VERSION = 4
_KEYS = 7
#: The batch is not in the log and will not be: the same batch may be sent again, or given up.
REFUSED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_ENOUGH_REPLICAS)


@dataclass
class Sending:
    """A producer's place in one partition."""

    sequence: int = 0
    number: int = 0


class Producer:
    """Writes batches of one to three records with pauses, until told to stop."""

    def __init__(
        self, name: str, client: ClusterClient, history: History, topics: list[str], holdings: Holdings, *, acks: int
    ):
        self._name = name
        self._client = client
        self._history = history
        self._topics = topics
        self._holdings = holdings
        self._acks = acks
        self._random = client.random
        self._producer = (NO_PRODUCER_ID, -1)
        self._sendings: dict[TopicPartition, Sending] = {}
        self.is_stopping = False

    @property
    def is_idempotent(self) -> bool:
        return self._acks == -1

    async def run(self) -> None:
        if self.is_idempotent:
            await self._take_producer_id()
        while not self.is_stopping:
            await self._send_somewhere()
            await asyncio.sleep(self._random.uniform(0.01, 0.3))

    async def _take_producer_id(self) -> None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)
        while not self.is_stopping:
            try:
                response = await self._client.ask_any(request, _INIT_VERSION)
                if response.error_code == ErrorCode.NONE:
                    self._producer = (response.producer_id, response.producer_epoch)
                    return
            except NoAnswerError:
                pass
            await asyncio.sleep(0.1)

    async def _send_somewhere(self) -> None:
        if not self._client.leaders:
            await self._client.refresh(self._topics)
            return
        where = self._random.choice(sorted(self._client.leaders))
        sending = self._sendings.setdefault(where, Sending())
        count = self._random.randint(1, 3)
        values = [f"{self._name}/{where}/{sending.number + index}" for index in range(count)]
        sending.number += count
        self._history.add(self._name, "sends", partition=where, values=values)
        await self._send(where, values, sending)

    async def _send(self, where: TopicPartition, values: list[str], sending: Sending) -> None:
        """An idempotent producer goes on until it knows; one that is not may lose and repeat nothing."""
        while True:
            code, base_offset = await self._try(where, values, sending)
            if code == ErrorCode.NONE:
                leader = self._client.leaders[where]
                self._history.add(
                    self._name, "acknowledged", partition=where, acks=self._acks, offset=base_offset, values=values,
                    by=leader.broker_id,
                )  # fmt: skip
                self._judge_success(where, base_offset + len(values) - 1)
                break
            self._history.add(self._name, "not acknowledged", partition=where, error=_name(code), values=values)
            self._judge(where, code)
            await asyncio.sleep(self._random.uniform(0.02, 0.2))
            await self._client.refresh(self._topics)
            if not self.is_idempotent or (self.is_stopping and code in REFUSED):
                break
        sending.sequence += len(values)

    async def _try(self, where: TopicPartition, values: list[str], sending: Sending) -> tuple[ErrorCode | None, int]:
        leader = self._client.leaders.get(where)
        if leader is None or leader.broker_id < 0:
            return ErrorCode.LEADER_NOT_AVAILABLE, -1
        producer_id, producer_epoch = self._producer
        records = [Record(0, 1_700_000_000_000, key_of(where.topic, value), value.encode()) for value in values]
        batch = build_batch(
            records,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=sending.sequence if self.is_idempotent else -1,
        )
        data = TopicProduceData(
            name=where.topic, partition_data=[PartitionProduceData(index=where.partition, records=batch)]
        )
        request = ProduceRequest(acks=self._acks, timeout_ms=2_000, topic_data=[data])
        try:
            response = await self._client.ask(leader.broker_id, request, _PRODUCE_VERSION)
        except NoAnswerError:
            return None, -1
        answer = response.responses[0].partition_responses[0]
        return ErrorCode(answer.error_code), answer.base_offset

    def _judge_success(self, where: TopicPartition, offset: int) -> None:
        what = f"{self._name} hears Produce succeed"
        if self._acks == -1:
            self._holdings.judge_record(*where, -1, offset, what)
        if self._acks != 0:
            self._holdings.judge_safe(*where, offset, what, acks=self._acks)

    def _judge(self, where: TopicPartition, code: ErrorCode | None) -> None:
        """What an idempotent producer with one batch under way must never hear."""
        if self.is_idempotent and code in (
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            ErrorCode.INVALID_PRODUCER_EPOCH,
            ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
        ):
            self._history.violate(f"{self._name} to {where}: {code.name}, although it sends batch after batch")


def key_of(topic: str, value: str) -> bytes | None:
    """One of a few where the topic is compacted; by the value, so that whoever sees that knows the key."""
    return b"key %d" % (int(value.rpartition("/")[2]) % _KEYS) if topic in COMPACTED else None


def _name(code: ErrorCode | None) -> str:
    return "no answer" if code is None else code.name
