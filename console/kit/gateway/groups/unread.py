"""The first record at an offset: when it was written, and whether there is one at all behind the markers there.

A transaction ends with a marker, which takes an offset and is no record, and what it aborted takes offsets too: a group
that has read everything may stand before the log's end for ever.
"""

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from broker.client.cluster import ClusterConnections
from broker.common.errors import BarnabasError
from broker.protocol.messages.fetch import AbortedTransaction, FetchPartition, FetchRequest, FetchTopic, PartitionData
from broker.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from broker.records.batch import BatchHeader, iterate_headers
from broker.records.control import MarkerType, parse_marker
from broker.records.record import decode_records
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.groups.interface import TopicPartition, UnreadView

logger = logging.getLogger(__name__)

BYTES_PER_PARTITION = 16_384
BYTES_PER_ANSWER = 4 * 1024 * 1024
#: A batch that unpacks to more is not looked into; its first record's time is taken.
UNPACKED_BYTES_MAX = 8 * 1024 * 1024


def ask_first_unread(
    client: ClusterClient, positions: Mapping[TopicPartition, int], timeout_seconds: float
) -> dict[TopicPartition, UnreadView]:
    """Return the first unread records; those not available are missing. Raises BarnabasError if no broker answers."""
    by_topic: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in positions.items():
        by_topic.setdefault(topic, {})[partition] = offset
    views: dict[TopicPartition, UnreadView] = {}
    with client.cluster(timeout_seconds) as cluster:
        for topic, offsets in by_topic.items():
            views.update(_ask_topic(cluster, topic, offsets))
    return views


def _ask_topic(cluster: ClusterConnections, topic: str, offsets: Mapping[int, int]) -> dict[TopicPartition, UnreadView]:
    views: dict[TopicPartition, UnreadView] = {}
    for data in fetched(cluster, topic, offsets, BYTES_PER_PARTITION):
        unread = unread_in(data, offsets[data.partition_index])
        if unread is not None:
            views[topic, data.partition_index] = unread
    return views


def fetched(
    cluster: ClusterConnections, topic: str, offsets: Mapping[int, int], bytes_per_partition: int
) -> Iterator[PartitionData]:
    """Yield what each partition's leader returns at these offsets; leaders that do not answer are left out."""
    metadata = cluster.describe_topics([topic])
    (described,) = metadata.topics
    for address, partitions in _by_leader(metadata, described, offsets).items():
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=BYTES_PER_ANSWER,
            isolation_level=1,
            topics=[
                FetchTopic(
                    topic=topic,
                    topic_id=described.topic_id,
                    partitions=[
                        FetchPartition(
                            partition=partition,
                            fetch_offset=offsets[partition],
                            partition_max_bytes=bytes_per_partition,
                        )
                        for partition in partitions
                    ],
                )
            ],
        )
        try:
            answers = cluster.connection(*address).ask(request).responses
        except BarnabasError as error:
            cluster.forget(*address)
            logger.debug("no records of %s: %s", topic, error)
            continue
        for answer in answers:
            yield from answer.partitions


def _by_leader(
    metadata: MetadataResponse, topic: MetadataResponseTopic, wanted: Mapping[int, int]
) -> dict[tuple[str, int], list[int]]:
    addresses = {broker.node_id: (broker.host, broker.port) for broker in metadata.brokers}
    by_leader: dict[tuple[str, int], list[int]] = {}
    for partition in topic.partitions:
        if partition.partition_index in wanted and partition.leader_id in addresses:
            by_leader.setdefault(addresses[partition.leader_id], []).append(partition.partition_index)
    return by_leader


def unread_in(data: PartitionData, position: int) -> UnreadView | None:
    """Return the first unread record; None if the response does not show it.

    Records of aborted transactions do not count.
    """
    if data.error_code:
        return None
    buffer, aborted = data.records or b"", _Aborted(data.aborted_transactions or ())
    try:
        for at, header in iterate_headers(buffer):
            batch = memoryview(buffer)[at : at + header.size_bytes]
            if aborted.drops(header, batch) or header.last_offset < position:
                position = max(position, header.next_offset)
                continue
            records = decode_records(batch, decompressed_bytes_max=UNPACKED_BYTES_MAX)
            first = next((record for record in records if record.offset >= position), None)
            if first is not None:
                return UnreadView(first.offset, first.timestamp_ms if first.timestamp_ms >= 0 else None)
            position = header.next_offset  # compaction took the rest of this batch
    except BarnabasError as error:
        logger.debug("records cannot be read: %s", error)
        return None
    return UnreadView(None, None) if position >= data.high_watermark >= 0 else None


class _Aborted:
    """Which batches a reader of committed records passes over, told in the order of the log."""

    def __init__(self, transactions: Iterable[AbortedTransaction]):
        self._coming = deque(
            sorted((transaction.first_offset, transaction.producer_id) for transaction in transactions)
        )
        self._producers: set[int] = set()

    def drops(self, header: BatchHeader, batch: memoryview) -> bool:
        while self._coming and self._coming[0][0] <= header.last_offset:
            self._producers.add(self._coming.popleft()[1])
        if header.is_control:
            marker = parse_marker(batch)
            if marker is not None and marker.type is MarkerType.ABORT:
                self._producers.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._producers
