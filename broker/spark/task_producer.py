"""A task's producer: records in one transaction that it opens and does not end.

Idempotent: each partition has one batch under way, and a batch that is sent again is the same bytes with the same
sequence number, which its broker recognises. A topic that refuses a batch for its size gets smaller ones, under the
same numbers. What it cannot write within WRITE_TIMEOUT_S fails the task.
"""

import time
from collections.abc import Iterator, Mapping

from broker.client.coordinators import Coordinators
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.transactions import PRODUCE_VERSION_MAX, ProducerIdentity, add_partitions
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from broker.records.batch import Compression
from broker.spark.record_encoding import BATCH_BYTES, EncodedRows, Writer, encode_batch, in_batches, size_of

WRITE_TIMEOUT_S = 120.0
_ACKS_ALL = -1
_PAUSE_S = 0.1
_REPLICAS_TIMEOUT_MS = 30_000
#: Of a topic with a low max.message.bytes, or small segments.
_TOO_LARGE = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE)


class RecordTooLargeError(BarnabasError):
    """One record alone is larger than its topic takes."""


class TaskProducer:
    """A producer for one task and one thread."""

    def __init__(self, leaders: Leaders, coordinators: Coordinators, who: ProducerIdentity, compression: Compression):
        self._leaders = leaders
        self._coordinators = coordinators
        self._who = who
        self._writer = Writer(who.producer_id, who.epoch, compression)
        self._next_sequence: dict[TopicPartition, int] = {}
        self._bytes_max: dict[str, int] = {}

    def write(self, rows: Mapping[TopicPartition, EncodedRows]) -> None:
        """Write every row, and return when all in-sync replicas have acknowledged them.

        Raises ApiError (fenced, not authorised …), RecordTooLargeError and TimeoutError.
        """
        fresh = [partition for partition in rows if partition not in self._next_sequence]
        if fresh:
            add_partitions(self._coordinators, self._who, fresh)
            self._next_sequence |= dict.fromkeys(fresh, 0)
        rest = dict(rows)
        while rest:
            rest = self._write_what_fits(rest)

    def _write_what_fits(self, rows: dict[TopicPartition, EncodedRows]) -> dict[TopicPartition, EncodedRows]:
        """Return the rows of partitions from where their topics want smaller batches on."""
        parts = {
            partition: in_batches(item, self._bytes_max.get(partition.topic, BATCH_BYTES))
            for partition, item in rows.items()
        }
        counts = dict.fromkeys(rows, 0)
        rest: dict[TopicPartition, EncodedRows] = {}
        while heads := _next_of(parts):
            refused = self._send({partition: self._encode(partition, head) for partition, head in heads.items()})
            for partition, head in heads.items():
                if partition in refused:
                    self._take_smaller_batches(partition, head)
                    rest[partition] = rows[partition].slice(counts[partition], len(rows[partition].key))
                    del parts[partition]
                else:
                    counts[partition] += len(head.key)
                    sequence = self._next_sequence[partition] + len(head.key)
                    self._next_sequence[partition] = sequence & 0x7FFFFFFF
        return rest

    def _take_smaller_batches(self, partition: TopicPartition, refused: EncodedRows) -> None:
        if len(refused.key) == 1:
            raise RecordTooLargeError(
                f"{partition}: a record of {size_of(refused)} bytes is larger than the topic takes; raise its "
                "max.message.bytes or write less"
            )
        self._bytes_max[partition.topic] = size_of(refused) // 2

    def _encode(self, partition: TopicPartition, rows: EncodedRows) -> bytearray:
        return encode_batch(rows, self._writer, self._next_sequence[partition], time.time_ns() // 1_000_000)

    def _send(self, batches: dict[TopicPartition, bytearray]) -> set[TopicPartition]:
        """Send batches; return partitions whose batch is too large for their topic; all others are acknowledged."""
        refused: set[TopicPartition] = set()
        deadline = time.monotonic() + WRITE_TIMEOUT_S
        trouble = ""
        while batches:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{next(iter(batches))} took nothing in {WRITE_TIMEOUT_S:g} s: {trouble}")
            try:
                for led in self._leaders.by_address(batches).values():
                    trouble = self._ask_leader(led, batches, refused) or trouble
            except (ApiError, BrokerUnreachable) as error:
                if isinstance(error, ApiError) and not error.code.retriable:
                    raise
                trouble = str(error)
            if batches and trouble:
                time.sleep(_PAUSE_S)
        return refused

    def _ask_leader(
        self, led: list[TopicPartition], batches: dict[TopicPartition, bytearray], refused: set[TopicPartition]
    ) -> str | None:
        """Takes out of `batches` what was acknowledged or refused; what hindered the rest, if anything did."""
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
            timeout_s = _REPLICAS_TIMEOUT_MS / 1000 + 5
            connection = self._leaders.connection(led[0])
            response = connection.ask(request, timeout_s=timeout_s, version_max=PRODUCE_VERSION_MAX)
        except BrokerUnreachable as error:
            self._leaders.forget(led[0], connection_broken=True)
            return str(error)
        return self._heed(response, batches, refused)

    def _heed(
        self, response: ProduceResponse, batches: dict[TopicPartition, bytearray], refused: set[TopicPartition]
    ) -> str | None:
        trouble = None
        for topic in response.responses:
            for partition_response in topic.partition_responses:
                partition, code = (
                    TopicPartition(topic.name, partition_response.index),
                    error_code_of(partition_response.error_code),
                )
                if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    del batches[partition]
                elif code in _TOO_LARGE:
                    del batches[partition]
                    refused.add(partition)
                elif code.retriable and code is not ErrorCode.CORRUPT_MESSAGE:
                    trouble = f"{partition}: {code.meaning}"
                    self._leaders.forget(partition)
                else:
                    raise ApiError(code, f"{partition}: {partition_response.error_message or code.meaning}")
        return trouble


def _next_of(parts: Mapping[TopicPartition, Iterator[EncodedRows]]) -> dict[TopicPartition, EncodedRows]:
    """Return the next batch of each that has one left."""
    heads = {partition: next(item, None) for partition, item in parts.items()}
    return {partition: head for partition, head in heads.items() if head is not None}
