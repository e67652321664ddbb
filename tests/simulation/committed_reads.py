"""Reads records as a reader of committed ones does: up to the last stable offset, without aborted transactions."""

from uuid import UUID

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from broker.records.batch import BatchHeader, iterate_headers
from broker.records.control import MarkerType, parse_marker
from broker.records.record import Record
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.decoded import records_of

_FETCH_VERSION = 17
_READ_COMMITTED = 1


async def fetch_committed(
    client: ClusterClient, where: TopicPartition, position: int, max_bytes: int = 2_000
) -> tuple[list[Record], int] | None:
    """The records from `position` on, and where to go on; None if that leader has nothing to say now."""
    leader = client.leaders.get(where)
    if leader is None or leader.broker_id < 0:
        return None
    partition = FetchPartition(
        partition=where.partition,
        current_leader_epoch=leader.leader_epoch,
        fetch_offset=position,
        partition_max_bytes=max_bytes,
    )
    topic = FetchTopic(topic_id=leader.topic_id or UUID(int=0), partitions=[partition])
    request = FetchRequest(max_wait_ms=50, min_bytes=1, isolation_level=_READ_COMMITTED, topics=[topic])
    try:
        response = await client.ask(leader.broker_id, request, _FETCH_VERSION)
    except NoAnswerError:
        return None
    data = response.responses[0].partitions[0]
    return None if data.error_code != ErrorCode.NONE else committed_in(data, position)


def committed_in(data: PartitionData, position: int) -> tuple[list[Record], int]:
    """As clients do: a producer's batches are passed over from the first of an aborted transaction to its marker."""
    aborted = sorted(
        (transaction.first_offset, transaction.producer_id) for transaction in data.aborted_transactions or ()
    )
    aborting: set[int] = set()
    records: list[Record] = []
    for header, batch in whole_batches(data.records):
        while aborted and aborted[0][0] <= header.last_offset:
            aborting.add(aborted.pop(0)[1])
        if header.is_control:
            marker = parse_marker(batch)
            if marker is not None and marker.type is MarkerType.ABORT:
                aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            records += [record for record in records_of(batch) if record.offset >= position]
        position = max(position, header.next_offset)
    return records, position


def whole_batches(data) -> list[tuple[BatchHeader, memoryview]]:
    data = memoryview(data or b"")
    return [(header, data[at : at + header.size_bytes]) for at, header in iterate_headers(data)]


def committed_records(batches: list[tuple[BatchHeader, memoryview]]) -> tuple[list[Record], int]:
    """What a reader of committed records finds in a whole log, in its order, by its markers alone; and how many
    transactions are open still.
    """
    shown: list[Record] = []
    held: dict[int, list[Record]] = {}
    for header, batch in batches:
        if header.is_control:
            marker = parse_marker(batch)
            pending = held.pop(header.producer_id, []) if marker is not None else []
            shown += pending if marker is not None and marker.type is MarkerType.COMMIT else []
        elif header.is_transactional:
            held.setdefault(header.producer_id, []).extend(records_of(batch))
        else:
            shown += records_of(batch)
    return sorted(shown, key=lambda record: record.offset), len(held)
