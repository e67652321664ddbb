"""What is asked of a leader to read the probe's records, and which there are in its answer. Pure."""

from broker.common.errors import ApiError, error_code_of
from broker.probe.record import ProbeMark, decode
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from broker.records.batch import iterate_headers
from broker.records.record import decode_records

#: Of one partition at once.
FETCH_BYTES = 64 * 1024
#: The last one in which topics have names.
FETCH_VERSION_MAX = 12


def fetch_request(topic: str, wanted: dict[int, int], wait_ms: int) -> FetchRequest:
    partitions = [
        FetchPartition(partition=item, fetch_offset=place, partition_max_bytes=FETCH_BYTES)
        for item, place in wanted.items()
    ]
    topics = [FetchTopic(topic=topic, partitions=partitions)]
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, isolation_level=0, topics=topics, forgotten_topics_data=[])


def marks_of(data: PartitionData, position: int) -> tuple[list[ProbeMark], int, str]:
    """Return the probe's marks from `position` on, the next position, and why a batch could not be read."""
    if data.error_code:
        return [], position, error_code_of(data.error_code).meaning
    marks, records = [], memoryview(data.records or b"")
    try:
        for at, header in iterate_headers(records):
            if header.last_offset < position:
                continue
            decoded = [] if header.is_control else decode_records(records[at:])
            marks += [mark for item in decoded if item.offset >= position and (mark := decode(item.value))]
            position = header.next_offset
    except ApiError as error:
        return [], position, str(error)
    return marks, position, ""
