"""WriteTxnMarkers: end transactions in the partitions this broker leads; answered when the markers are committed.

Asked by transaction coordinators, and by operators whose tool aborts a hanging transaction (KIP-664): with a right to
that on the cluster. Each partition of each marker stands for itself: one that fails keeps no other from its marker.
"""

from collections.abc import Awaitable, Iterator
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.common.types import TopicPartition
from broker.coordinator.transaction.transaction import EPOCH_RAISING_VERSION
from broker.handlers.handler import OF_PEERS, for_members
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from broker.protocol.schema import Message
from broker.records.control import EndMarker, MarkerType
from broker.runtime.in_turns import in_turns
from broker.runtime.replication.hosted_partition import ProduceResult
from broker.runtime.requests.context import RequestContext
from broker.runtime.requests.current_leader import refusal
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.rights import Rights

#: How long a marker may take to be committed before the coordinator is told to send it again, Kafka's
#: request.timeout.ms.
_COMMIT_TIMEOUT_MS = 30_000


class _MarkerResult(NamedTuple):
    """A partition that is to have a marker, and where its result goes."""

    topic_partition: TopicPartition
    marker: WritableTxnMarker
    results: list[WritableTxnMarkerPartitionResult]


class _Appended(NamedTuple):
    """A marker in the log that is not known to be committed: `result` is what will be answered."""

    appended: ProduceResult
    result: WritableTxnMarkerPartitionResult


def handle_write_txn_markers(request: WriteTxnMarkersRequest, context: RequestContext) -> Message | Awaitable[Message]:
    count = sum(len(topic.partition_indexes) for marker in request.markers for topic in marker.topics)
    if count > THINGS_IN_A_TURN:
        return _write_in_turns(request, context)
    response, uncommitted = WriteTxnMarkersResponse(markers=[]), list[_Appended]()
    for place in _places(request, response):
        _write_one(place, context, uncommitted)
    return _when_committed(response, uncommitted, context)


async def _write_in_turns(request: WriteTxnMarkersRequest, context: RequestContext) -> Message:
    """Write the markers in turns: a transaction may end in thousands of partitions at once."""
    response, uncommitted = WriteTxnMarkersResponse(markers=[]), list[_Appended]()
    await in_turns(
        _places(request, response), lambda place: _write_one(place, context, uncommitted), context.services.turns
    )
    reply = _when_committed(response, uncommitted, context)
    return reply if isinstance(reply, Message) else await reply


def _when_committed(
    response: WriteTxnMarkersResponse, uncommitted: list[_Appended], context: RequestContext
) -> Message | Awaitable[Message]:
    if not uncommitted:
        return response

    def when_decided(codes: list[ErrorCode]) -> WriteTxnMarkersResponse:
        for (_, result), code in zip(uncommitted, codes, strict=True):
            result.error_code = code
        return response

    appended = [item.appended for item in uncommitted]
    return context.services.delayed_produces.wait(appended, _COMMIT_TIMEOUT_MS, when_decided)


def _places(request: WriteTxnMarkersRequest, response: WriteTxnMarkersResponse) -> Iterator[_MarkerResult]:
    """Yield the places of results; `response` grows with them, because it is as long as the request and must not be
    made in one turn.
    """
    for marker in request.markers:
        answered = WritableTxnMarkerResult(producer_id=marker.producer_id, topics=[])
        response.markers.append(answered)
        for topic in marker.topics:
            results = WritableTxnMarkerTopicResult(name=topic.name, partitions=[])
            answered.topics.append(results)
            for index in topic.partition_indexes:
                yield _MarkerResult(TopicPartition(topic.name, index), marker, results.partitions)


def _write_one(place: _MarkerResult, context: RequestContext, uncommitted: list[_Appended]) -> None:
    topic_partition, marker, results = place
    kind = MarkerType.COMMIT if marker.transaction_result else MarkerType.ABORT
    result = WritableTxnMarkerPartitionResult(partition_index=topic_partition.partition)
    results.append(result)
    try:
        if marker.producer_id < 0 or marker.producer_epoch < 0:
            raise ApiError(ErrorCode.INVALID_REQUEST, "a marker needs a producer id and an epoch")
        if marker.transaction_version >= EPOCH_RAISING_VERSION:
            _refuse_if_late(topic_partition, marker, context)
        appended = context.services.replicas.append_marker(
            topic_partition, EndMarker(kind, marker.coordinator_epoch), marker.producer_id, marker.producer_epoch
        )
    except ApiError as error:
        result.error_code = refusal(error, topic_partition, context)
    else:
        uncommitted.append(_Appended(appended, result))


def _refuse_if_late(topic_partition: TopicPartition, marker: WritableTxnMarker, context: RequestContext) -> None:
    """Raise ApiError INVALID_PRODUCER_EPOCH if a transaction is open under the epoch to which the marker's has raised
    it: that is a later one (KIP-1228).
    """
    hosted = context.services.replicas.leader_log(*topic_partition)
    if hosted.log.has_open_transaction(marker.producer_id, marker.producer_epoch):
        raise ApiError(ErrorCode.INVALID_PRODUCER_EPOCH, "the marker is of an earlier transaction")


def _refused(request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


def _may_write(rights: Rights) -> bool:
    return rights.sees(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME) or rights.may(
        AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
    )


HANDLER = for_members(
    ApiKey.WRITE_TXN_MARKERS, 0, 2, handle_write_txn_markers, _refused, budget=OF_PEERS, others_may=_may_write
)
