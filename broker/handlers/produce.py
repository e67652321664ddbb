"""Produce: append batches, answer per partition, with acks=all when the records are committed.

With acks=0 there is nobody to answer, so an error closes the connection.
"""

from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition, new_tuple
from broker.handlers.current_leader import addresses, current_leader, refusal
from broker.handlers.handler import CloseConnectionError, Reply, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceNodeEndpoint,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from broker.protocol.produced import FIRST_VERSION, Produced, encode_produced
from broker.runtime.replica_manager import ProduceResult
from broker.runtime.topic_admin import INTERNAL_TOPICS

_ALL = -1
_ACKS = (_ALL, 0, 1)


class _Uncommitted(NamedTuple):
    """Appended for acks=all, and not yet in all in-sync replicas."""

    produced: Produced
    result: ProduceResult


#: What became of the batch for one partition; the last one is its refusal.
Outcome = Produced | _Uncommitted | PartitionProduceResponse


def handle_produce(request: ProduceRequest, context: RequestContext) -> Reply:
    topics: list[tuple[str, list[Outcome]]] = []
    is_done = request.acks != 0 and context.api_version >= FIRST_VERSION
    for topic in request.topic_data:
        outcomes = []
        for data in topic.partition_data:
            outcome = _append(request, topic.name, data, context)
            is_done = is_done and outcome.__class__ is Produced
            outcomes.append(outcome)
        topics.append((topic.name, outcomes))
    return encode_produced(context.api_version, topics) if is_done else _answer_in_full(request, topics, context)


def _answer_in_full(request: ProduceRequest, topics: list[tuple[str, list[Outcome]]], context: RequestContext) -> Reply:
    uncommitted: list[tuple[PartitionProduceResponse, ProduceResult]] = []
    responses = [
        TopicProduceResponse(name=name, partition_responses=[_answer(outcome, uncommitted) for outcome in outcomes])
        for name, outcomes in topics
    ]
    if request.acks == 0:
        _close_on_error(responses)
        return None
    if uncommitted:
        return _when_committed(request.timeout_ms, responses, uncommitted, context)
    return _response(responses, context)


def _answer(
    outcome: Outcome, uncommitted: list[tuple[PartitionProduceResponse, ProduceResult]]
) -> PartitionProduceResponse:
    if isinstance(outcome, PartitionProduceResponse):
        return outcome
    if isinstance(outcome, Produced):
        return PartitionProduceResponse(**outcome._asdict())
    answer = PartitionProduceResponse(**outcome.produced._asdict())
    uncommitted.append((answer, outcome.result))
    return answer


async def _when_committed(
    timeout_ms: int,
    responses: list[TopicProduceResponse],
    uncommitted: list[tuple[PartitionProduceResponse, ProduceResult]],
    context: RequestContext,
) -> ProduceResponse:
    """Knows nothing of the request, so that its bytes are free while it waits."""
    codes = await context.services.acks.wait([result for _, result in uncommitted], timeout_ms)
    for (answer, _), code in zip(uncommitted, codes, strict=True):
        if code:
            answer.error_code, answer.error_message, answer.base_offset = code, code.meaning, -1
    return _response(responses, context)


def _append(request: ProduceRequest, topic: str, data: PartitionProduceData, context: RequestContext) -> Outcome:
    topic_partition = new_tuple(TopicPartition, (topic, data.index))
    acks, batch = request.acks, data.records
    try:
        if acks not in _ACKS:
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
        if request.transactional_id is not None:
            raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transactions are not served yet")
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal; only brokers write to it")
        if batch is None:
            raise ApiError(ErrorCode.INVALID_RECORD, "the request holds no record batch for the partition")
        result = context.services.replicas.append(topic_partition, batch, is_for_all=acks == _ALL)
    except ApiError as error:
        return _refused(error, topic_partition, context)
    base_offset, end_offset, log_start_offset, hosted, log_append_time_ms = result
    produced = new_tuple(Produced, (data.index, base_offset, log_append_time_ms, log_start_offset))
    is_committed = acks != _ALL or end_offset <= hosted.partition.high_watermark
    return produced if is_committed else _Uncommitted(produced, result)


def _refused(error: ApiError, topic_partition: TopicPartition, context: RequestContext) -> PartitionProduceResponse:
    code = refusal(error, topic_partition, context)
    answer = PartitionProduceResponse(
        index=topic_partition.partition,
        error_code=code,
        base_offset=-1,
        error_message=error.message if code == error.code else code.meaning,
    )
    if code == ErrorCode.NOT_LEADER_OR_FOLLOWER and (leader := current_leader(topic_partition, context)):
        answer.current_leader = LeaderIdAndEpoch(leader_id=leader.leader_id, leader_epoch=leader.leader_epoch)
    return answer


def _response(responses: list[TopicProduceResponse], context: RequestContext) -> ProduceResponse:
    response = ProduceResponse(responses=responses)
    leaders = []
    for topic in responses:
        for partition in topic.partition_responses:
            if partition.current_leader is not None:
                leaders.append(partition.current_leader.leader_id)
    if leaders:
        response.node_endpoints = [
            ProduceNodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
            for node in addresses(leaders, context)
        ]
    return response


def _close_on_error(responses: list[TopicProduceResponse]) -> None:
    for topic in responses:
        for partition in topic.partition_responses:
            if partition.error_code:
                name = ErrorCode(partition.error_code).name
                raise CloseConnectionError(f"acks=0 to {topic.name}-{partition.index} failed: {name}")


HANDLER = public(ApiKey.PRODUCE, 3, 11, handle_produce, advertised_from=0)
