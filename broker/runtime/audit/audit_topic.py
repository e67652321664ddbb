"""The audit topic as brokers write it: made when there is something to tell, a batch for each partition at a time.

An increment goes to the partition that librdkafka would choose for its key, so that whoever tells of a chain tells it
in one place. What is not acknowledged may have arrived: it is told again under its id, and counts once.
"""

from collections.abc import AsyncIterator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from zlib import crc32

from broker.audit.increment import AUDIT_TOPIC, Increment
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.logs import logger
from broker.common.troubles import Troubles
from broker.common.types import TopicPartition
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.audit.peers import Peers
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_placement import NewTopic

PARTITIONS = 4
REPLICAS_MAX = 3
RETENTION_MS = 7 * 24 * 3_600_000
#: Of one batch: what fits into max.message.bytes of any topic whose default nobody has lowered.
_BYTES_AT_ONCE = 512 * 1024
_VERSION = 9
_ALL = -1
_TIMEOUT_MS = 10_000
_CREATION_TIMEOUT_MS = 10_000
_TOO_LARGE = frozenset((ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE))

_log = logger(__name__)


class AuditTopic:
    """`tell` is called by one task."""

    def __init__(self, peers: Peers, metadata: MetadataCache, topics: TopicAdmin):
        self._peers = peers
        self._metadata = metadata
        self._topics = topics
        self._troubles = Troubles()

    async def tell(self, increments: Iterable[Increment], now_ms: int) -> list[Increment]:
        """Write the increments; return those acknowledged by all in-sync replicas.

        The fate of the others is unknown.
        """
        sent: list[Increment] = []
        with self._noting(AUDIT_TOPIC, now_ms):
            await self._ensure()
        for partition, batch in _batches(increments, self._metadata.partition_count(AUDIT_TOPIC)):
            place = TopicPartition(AUDIT_TOPIC, partition)
            # One that is offline keeps nobody from the others.
            with self._noting(place, now_ms):
                async for encoded in self._send_all(place, batch, now_ms):
                    sent.append(encoded.increment)
        return sent

    async def _send_all(self, place: TopicPartition, batch: list["_Encoded"], now_ms: int) -> AsyncIterator["_Encoded"]:
        """Send increments in batches as large as the topic allows. One that is too large alone is given up, as if it
        were sent: the verdict misses it. Raises BarnabasError.
        """
        code = await self._produce(place, batch, now_ms)
        if code in _TOO_LARGE and len(batch) > 1:
            for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
                async for encoded in self._send_all(place, half, now_ms):
                    yield encoded
            return
        if code in _TOO_LARGE:
            _log.error(
                "an increment is too large for the audit", of=str(batch[0].increment.chain), size=len(batch[0].value)
            )
        elif code:
            raise ApiError(code, f"{place}: {code.name}")
        for encoded in batch:
            yield encoded

    @contextmanager
    def _noting(self, of: Hashable, now_ms: int) -> Iterator[None]:
        try:
            yield
        except BarnabasError as error:
            if self._troubles.is_news(of, str(error), now_ms):
                _log.warning("audit counts not written", of=str(of), reason=str(error))
        else:
            self._troubles.is_over(of)

    async def _ensure(self) -> None:
        """Raises ApiError."""
        if AUDIT_TOPIC in self._metadata.topics:
            return
        replicas = min(REPLICAS_MAX, len(self._metadata.brokers))
        configs = {"cleanup.policy": "delete", "retention.ms": str(RETENTION_MS)}
        try:
            await self._topics.create(
                NewTopic(AUDIT_TOPIC, PARTITIONS, replicas, configs=configs), _CREATION_TIMEOUT_MS
            )
        except ApiError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise

    async def _produce(self, partition: TopicPartition, encoded: list["_Encoded"], now_ms: int) -> ErrorCode:
        """Produce a batch and return the leader's error code. Raises BarnabasError."""
        batch = build_batch([Record(0, now_ms, item.key, item.value) for item in encoded])
        data = PartitionProduceData(index=partition.partition, records=batch)
        request = ProduceRequest(
            acks=_ALL,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
        )
        response = await self._peers.ask_leader(partition, request, _VERSION)
        (result,) = response.responses[0].partition_responses
        return error_code_of(result.error_code)


class _Encoded(NamedTuple):
    increment: Increment
    key: bytes
    value: bytes


def partition_of(key: bytes, count: int) -> int:
    """Return the partition that librdkafka's partitioner `consistent` chooses."""
    return crc32(key) % count


def _batches(increments: Iterable[Increment], count: int) -> Iterator[tuple[int, list[_Encoded]]]:
    """Yield increments by partition, in their order, each of a size that one batch may have."""
    waiting: dict[int, list[_Encoded]] = {}
    sizes: dict[int, int] = {}
    for increment in increments if count else ():
        encoded = _Encoded(increment, increment.key(), increment.to_bytes())
        partition, size = partition_of(encoded.key, count), len(encoded.value)
        if waiting.get(partition) and sizes[partition] + size > _BYTES_AT_ONCE:
            yield partition, waiting.pop(partition)
            sizes[partition] = 0
        waiting.setdefault(partition, []).append(encoded)
        sizes[partition] = sizes.get(partition, 0) + size
    yield from waiting.items()
