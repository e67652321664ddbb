"""A task's producer: records in one transaction that it opens and does not end.

Idempotent: each partition has one batch under way, and a batch that is sent again is the same bytes with the same
sequence number, which its broker recognises. What it cannot write within WRITE_TIMEOUT_S fails the task.
"""

import time
from collections.abc import Mapping

from broker.client.coordinators import Coordinators
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.transactions import ProducerIdentity, add_partitions
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from broker.records.compression import Compression
from broker.spark.record_encoding import Rows, Writer, encode_batch, in_batches

WRITE_TIMEOUT_S = 120.0
_ACKS_ALL = -1
_PAUSE_S = 0.1
_REPLICAS_TIMEOUT_MS = 30_000


class TaskProducer:
    """For one task and one thread."""

    def __init__(self, leaders: Leaders, coordinators: Coordinators, who: ProducerIdentity, compression: Compression):
        self._leaders = leaders
        self._coordinators = coordinators
        self._who = who
        self._writer = Writer(who.producer_id, who.epoch, compression)
        self._next_sequence: dict[TopicPartition, int] = {}

    def write(self, rows: Mapping[TopicPartition, Rows]) -> None:
        """Every row is in its partition, acknowledged by all in-sync replicas, when this returns.

        Raises ApiError (fenced, not authorised, too large …) and TimeoutError.
        """
        fresh = [partition for partition in rows if partition not in self._next_sequence]
        if fresh:
            add_partitions(self._coordinators, self._who, fresh)
            self._next_sequence |= dict.fromkeys(fresh, 0)
        parts = {partition: in_batches(each) for partition, each in rows.items()}
        while True:
            batches = {}
            for partition, each in parts.items():
                part = next(each, None)
                if part is not None:
                    batches[partition] = self._encode(partition, part)
            if not batches:
                return
            self._send(batches)

    def _encode(self, partition: TopicPartition, rows: Rows) -> bytearray:
        sequence = self._next_sequence[partition]
        self._next_sequence[partition] = (sequence + len(rows.key)) & 0x7FFFFFFF
        return encode_batch(rows, self._writer, sequence, time.time_ns() // 1_000_000)

    def _send(self, batches: dict[TopicPartition, bytearray]) -> None:
        deadline = time.monotonic() + WRITE_TIMEOUT_S
        trouble = ""
        while batches:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{next(iter(batches))} took nothing in {WRITE_TIMEOUT_S:g} s: {trouble}")
            try:
                for led in self._leaders.by_address(batches).values():
                    trouble = self._ask_leader(led, batches) or trouble
            except (ApiError, BrokerUnreachable) as error:
                if isinstance(error, ApiError) and not error.code.retriable:
                    raise
                trouble = str(error)
            if batches and trouble:
                time.sleep(_PAUSE_S)

    def _ask_leader(self, led: list[TopicPartition], batches: dict[TopicPartition, bytearray]) -> str | None:
        """Takes out of `batches` what was acknowledged; what hindered the rest, if anything did."""
        topics: dict[str, list[PartitionProduceData]] = {}
        for partition in led:
            data = PartitionProduceData(index=partition.partition, records=batches[partition])
            topics.setdefault(partition.topic, []).append(data)
        request = ProduceRequest(
            transactional_id=self._who.transactional_id,
            acks=_ACKS_ALL,
            timeout_ms=_REPLICAS_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=name, partition_data=data) for name, data in topics.items()],
        )
        try:
            response = self._leaders.connection(led[0]).ask(request, timeout_s=_REPLICAS_TIMEOUT_MS / 1000 + 5)
        except BrokerUnreachable as error:
            self._leaders.forget(led[0], connection_broken=True)
            return str(error)
        return self._heed(response, batches)

    def _heed(self, response: ProduceResponse, batches: dict[TopicPartition, bytearray]) -> str | None:
        trouble = None
        for topic in response.responses:
            for each in topic.partition_responses:
                partition, code = TopicPartition(topic.name, each.index), ErrorCode(each.error_code)
                if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    del batches[partition]
                elif code.retriable and code is not ErrorCode.CORRUPT_MESSAGE:
                    trouble = f"{partition}: {code.meaning}"
                    self._leaders.forget(partition)
                else:
                    raise ApiError(code, f"{partition}: {each.error_message or code.meaning}")
        return trouble
