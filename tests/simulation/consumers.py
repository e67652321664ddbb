"""Clients that read from leaders, every partition from its beginning to its end, and sometimes over again."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.records.batch import BatchHeader, iterate_headers
from broker.records.record import Record
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from tests.simulation.client import ClusterClient, Leader, NoAnswerError
from tests.simulation.decoded import records_of
from tests.simulation.deletions import EARLIEST, list_offset
from tests.simulation.history import History
from tests.simulation.topics import SHORTENED

_FETCH_VERSION = 17
_MAX_WAIT_MS = 100

#: Between two fetches; and after one of which a part was refused: a client that asked again at once would ask a
#: thousand times while one partition has no leader, and a run would be spent on that.
_PAUSE_S, _RETRY_PAUSE_S = (0.02, 0.2), (0.02, 0.1)

#: (partition, topic id, leader epoch, records)
OnRecords = Callable[[TopicPartition, UUID, int, Sequence[Record]], None]
#: Whether that broker was leader of the partition in that epoch.
HasLed = Callable[[int, TopicPartition, int], bool]


class Consumer:
    """Reads every partition of every topic there is; `on_records` hears of each batch."""

    def __init__(self, name: str, client: ClusterClient, history: History, on_records: OnRecords, has_led: HasLed):
        self._name = name
        self._client = client
        self._history = history
        self._on_records = on_records
        self._has_led = has_led
        self._random = client.random
        self.positions: dict[tuple[UUID, int], int] = {}
        #: Partitions that may begin behind where it reads.
        self._behind: set[TopicPartition] = set()
        self.is_stopping = False

    async def run(self) -> None:
        while not self.is_stopping:
            await self._client.refresh()
            for _ in range(self._random.randint(3, 10)):
                is_well = await self.read_once()
                await asyncio.sleep(self._random.uniform(*(_PAUSE_S if is_well else _RETRY_PAUSE_S)))
                if not is_well:
                    break
            await self._ask_with_another_epoch()
            await self._catch_up()
            if self._random.random() < 0.05:
                self.positions.clear()

    async def read_once(self) -> bool:
        """One fetch from a leader; whether it went well."""
        led: dict[int, dict[UUID, list[tuple[TopicPartition, Leader]]]] = {}
        for where, leader in sorted(self._client.leaders.items()):
            if leader.broker_id >= 0 and where.topic not in INTERNAL_TOPICS:
                led.setdefault(leader.broker_id, {}).setdefault(leader.topic_id, []).append((where, leader))
        if not led:
            return False
        broker_id = self._random.choice(sorted(led))
        request = FetchRequest(
            max_wait_ms=_MAX_WAIT_MS,
            min_bytes=1,
            topics=[
                FetchTopic(
                    topic_id=topic_id,
                    partitions=[self._fetch_partition(topic_id, *partition) for partition in partitions],
                )
                for topic_id, partitions in led[broker_id].items()
            ],
        )
        try:
            response = await self._client.ask(broker_id, request, _FETCH_VERSION)
        except NoAnswerError:
            return False
        names = {topic_id: partitions[0][0].topic for topic_id, partitions in led[broker_id].items()}
        answers = [(topic.topic_id, partition) for topic in response.responses for partition in topic.partitions]
        return sum(not self._take(names[topic_id], topic_id, answer) for topic_id, answer in answers) == 0

    async def _catch_up(self) -> None:
        """Where it read from is gone, which is right only if the log begins behind it."""
        for where in sorted(self._behind):
            earliest = await list_offset(self._client, where, EARLIEST)
            if earliest is not None:
                self._behind.discard(where)
                key = (self._client.leaders[where].topic_id, where.partition)
                if earliest[0] > self.positions.get(key, 0):
                    self.positions[key] = earliest[0]
                # Otherwise another leader was asked, or it was deleted up to here meanwhile: the next fetch says.

    async def _ask_with_another_epoch(self) -> None:
        """As a client with outdated metadata does, or one that knows more than the broker: KIP-320 fences both."""
        where, leader = self._random.choice(sorted(self._client.leaders.items()) or [(None, None)])
        if leader is None or leader.broker_id < 0:
            return
        other = replace(leader, leader_epoch=max(0, leader.leader_epoch + self._random.choice((-2, -1, 1))))
        topic = FetchTopic(topic_id=leader.topic_id, partitions=[self._fetch_partition(leader.topic_id, where, other)])
        try:
            response = await self._client.ask(leader.broker_id, FetchRequest(topics=[topic]), _FETCH_VERSION)
        except NoAnswerError:
            return
        answer = response.responses[0].partitions[0]
        if answer.error_code == ErrorCode.NONE and not self._has_led(leader.broker_id, where, other.leader_epoch):
            self._history.violate(f"{leader} answers for {where} in epoch {other.leader_epoch}, in which it never led")

    def _fetch_partition(self, topic_id: UUID, where: TopicPartition, leader: Leader) -> FetchPartition:
        return FetchPartition(
            partition=where.partition,
            current_leader_epoch=leader.leader_epoch,
            fetch_offset=self.positions.get((topic_id, where.partition), 0),
            partition_max_bytes=2_000,
        )

    def _take(self, topic: str, topic_id: UUID, data) -> bool:
        key = (topic_id, data.partition_index)
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and topic in SHORTENED:
            self._behind.add(TopicPartition(topic, data.partition_index))
        elif data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._history.violate(f"{self._name} has read {key} up to {self.positions.get(key)}, which is out of range")
        if data.error_code:
            return False
        for header, records in decode_batches(data.records):
            wanted = [record for record in records if record.offset >= self.positions.get(key, 0)]
            if not header.is_control:
                where = TopicPartition(topic, data.partition_index)
                self._on_records(where, topic_id, header.partition_leader_epoch, wanted)
            self.positions[key] = header.next_offset
        return True


def decode_batches(data) -> list[tuple[BatchHeader, Sequence[Record]]]:
    data = memoryview(data or b"")
    return [(header, records_of(data[at : at + header.size_bytes])) for at, header in iterate_headers(data)]
