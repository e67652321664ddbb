"""Fetch: read committed batches; wait for more when there are fewer bytes than the client wants.

Sessions (KIP-227) are not opened: every answer carries session id 0, which tells the client to send full requests.
"""

from collections.abc import Awaitable

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.handler import Reply, RequestContext, public
from broker.log.log_slice import LogSlice
from broker.net.file_part import SENDFILE_BYTES_MIN, FilePart
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from broker.records.batch import iterate_headers
from broker.runtime.replica_manager import ReadResult

_CONSUMER = -1


def handle_fetch(request: FetchRequest, context: RequestContext) -> Reply:
    if request.session_id != 0:
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    if request.replica_id != _CONSUMER:
        return _refuse_followers(request)
    reading = _Reading(request, context)
    response = reading.read()
    if reading.is_enough or request.max_wait_ms <= 0:
        return response
    deadline_ms = context.services.clock.monotonic_ms() + request.max_wait_ms
    return _wait_for_more(request, context, response, _park(request, context, deadline_ms), deadline_ms)


async def _wait_for_more(
    request: FetchRequest,
    context: RequestContext,
    response: FetchResponse,
    is_woken: Awaitable[bool],
    deadline_ms: int,
) -> FetchResponse:
    while await is_woken:
        reading = _Reading(request, context)
        response = reading.read()
        if reading.is_enough:
            break
        is_woken = _park(request, context, deadline_ms)
    return response


def _park(request: FetchRequest, context: RequestContext, deadline_ms: int) -> Awaitable[bool]:
    keys = [TopicPartition(topic.topic, each.partition) for topic in request.topics for each in topic.partitions]
    return context.services.purgatory.wait(keys, deadline_ms - context.services.clock.monotonic_ms())


class _Reading:
    """One pass over the partitions of a request, within its byte limits."""

    def __init__(self, request: FetchRequest, context: RequestContext):
        self._request = request
        self._replicas = context.services.replicas
        self._bytes_left = min(request.max_bytes, context.services.config.fetch_max_bytes)
        self._bytes_read = 0
        #: Whether waiting can bring anything: not when there is an error to tell, records were left behind for want of
        #: room, or nothing was asked for.
        self._can_gain = any(topic.partitions for topic in request.topics)

    @property
    def is_enough(self) -> bool:
        return self._bytes_read >= self._request.min_bytes or not self._can_gain

    def read(self) -> FetchResponse:
        return FetchResponse(
            responses=[
                FetchableTopicResponse(
                    topic=topic.topic, partitions=[self._read_partition(topic.topic, each) for each in topic.partitions]
                )
                for topic in self._request.topics
            ]
        )

    def _read_partition(self, topic: str, asked: FetchPartition) -> PartitionData:
        try:
            result = self._replicas.read(
                TopicPartition(topic, asked.partition),
                asked.fetch_offset,
                max(0, min(asked.partition_max_bytes, self._bytes_left)),
                at_least_one=self._bytes_read == 0,
                current_leader_epoch=asked.current_leader_epoch,
            )
            records = _payload(result.slice)
        except ApiError as error:
            self._can_gain = False
            return PartitionData(partition_index=asked.partition, error_code=error.code, high_watermark=-1, records=b"")
        self._bytes_read += len(records)
        self._bytes_left -= len(records)
        if self._bytes_read < self._request.min_bytes and _next_offset(result, asked) < result.high_watermark:
            self._can_gain = False
        return PartitionData(
            partition_index=asked.partition,
            high_watermark=result.high_watermark,
            last_stable_offset=result.high_watermark,
            log_start_offset=result.log_start_offset,
            aborted_transactions=[] if self._request.isolation_level else None,
            records=records,
        )


def _payload(found: LogSlice) -> bytes | FilePart:
    """A large answer is sent from the file; a small one is read, which also finds a disk error before the answer."""
    if found.length >= SENDFILE_BYTES_MIN:
        return FilePart(found.file, found.position, found.length)
    return found.read()


def _next_offset(result: ReadResult, asked: FetchPartition) -> int:
    """Where the next fetch of the partition will begin."""
    next_offset = asked.fetch_offset
    for _, header in iterate_headers(result.slice.read()):
        next_offset = header.next_offset
    return next_offset


def _refuse_followers(request: FetchRequest) -> FetchResponse:
    """Partitions have one replica: whoever says it follows one is not part of this cluster."""
    return FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                partitions=[
                    PartitionData(
                        partition_index=each.partition,
                        error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
                        high_watermark=-1,
                        records=b"",
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


HANDLER = public(ApiKey.FETCH, 4, 12, handle_fetch)
