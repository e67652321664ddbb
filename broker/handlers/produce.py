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
from broker.protocol.schema import Message
from broker.runtime.replication.repacking import Guard
from broker.runtime.replication.replica_manager import ProduceResult
from broker.runtime.replication.transactional_appends import Append
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS

_ALL = -1
_ACKS = (_ALL, 0, 1)


#: What became of the batch for one partition: where it went, or why it did not.
Outcome = Produced | PartitionProduceResponse


class _Uncommitted(NamedTuple):
    """Appended for acks=all, and not yet in all in-sync replicas: `outcomes[at]` is not sure."""

    outcomes: list[Outcome]
    at: int
    result: ProduceResult


def handle_produce(request: ProduceRequest, context: RequestContext, append: Append | None = None) -> Reply:
    """`append` writes a batch; the one that has verified its transaction, once it was."""
    if append is None:
        if context.services.repacking.partitions:
            return _when_packed(request, context)
        if request.transactional_id is not None:
            return _when_verified(request, context)
        append = context.services.replicas.append
    topics: list[tuple[str, list[Outcome]]] = []
    uncommitted: list[_Uncommitted] = []
    is_plain = True
    for topic in request.topic_data:
        outcomes: list[Outcome] = []
        for data in topic.partition_data:
            outcome = _append(request, topic.name, data, context, append, outcomes, uncommitted)
            is_plain = is_plain and outcome.__class__ is Produced
            outcomes.append(outcome)
        topics.append((topic.name, outcomes))
    if uncommitted:
        results = [each.result for each in uncommitted]
        return context.services.acks.wait(
            results, request.timeout_ms, lambda codes: _when_decided(topics, uncommitted, codes, context)
        )
    if request.acks == 0:
        _close_on_error(topics)
        return None
    if context.services.replicas.flushes_under_way:
        return _when_flushed(topics, context)
    return _answer(topics, is_plain=is_plain, context=context)


def _when_packed(request: ProduceRequest, context: RequestContext) -> Reply:
    sent = [
        (TopicPartition(topic.name, data.index), data) for topic in request.topic_data for data in topic.partition_data
    ]

    def go_on(guard: Guard) -> Reply:
        if request.transactional_id is not None:
            return _when_verified(request, context, guard)
        return handle_produce(request, context, guard(context.services.replicas.append))

    return context.services.repacking.when_packed(sent, go_on)


def _when_verified(request: ProduceRequest, context: RequestContext, guard: Guard = lambda append: append) -> Reply:
    batches = [
        (TopicPartition(topic.name, data.index), data.records)
        for topic in request.topic_data
        for data in topic.partition_data
    ]
    return context.services.transactional_appends.when_verified(
        request.transactional_id,
        context.api_version,
        batches,
        lambda append: handle_produce(request, context, guard(append)),
    )


async def _when_flushed(topics: list[tuple[str, list[Outcome]]], context: RequestContext) -> Message | bytes:
    """Some topics have what is written fsynced before it is acknowledged (flush.messages)."""
    for name, outcomes in topics:
        for at, outcome in enumerate(outcomes):
            if outcome.__class__ is not Produced:
                continue
            topic_partition = TopicPartition(name, outcome.index)
            try:
                await context.services.replicas.flushed(topic_partition)
            except ApiError as error:
                outcomes[at] = _refused(error, topic_partition, context)
    is_plain = all(outcome.__class__ is Produced for _, outcomes in topics for outcome in outcomes)
    return _answer(topics, is_plain=is_plain, context=context)


def _when_decided(
    topics: list[tuple[str, list[Outcome]]],
    uncommitted: list[_Uncommitted],
    codes: list[ErrorCode],
    context: RequestContext,
) -> Message | bytes:
    """Knows nothing of the request, so that its bytes are free while it waits."""
    for (outcomes, at, _), code in zip(uncommitted, codes, strict=True):
        if code:
            outcomes[at] = PartitionProduceResponse(
                index=outcomes[at].index, error_code=code, error_message=code.meaning, base_offset=-1
            )
    is_plain = all(outcome.__class__ is Produced for _, outcomes in topics for outcome in outcomes)
    return _answer(topics, is_plain=is_plain, context=context)


def _answer(topics: list[tuple[str, list[Outcome]]], *, is_plain: bool, context: RequestContext) -> Message | bytes:
    """`is_plain`: every outcome is a place, as nearly always."""
    if is_plain and context.api_version >= FIRST_VERSION:
        return encode_produced(context.api_version, topics)
    responses = [
        TopicProduceResponse(name=name, partition_responses=[_in_full(outcome) for outcome in outcomes])
        for name, outcomes in topics
    ]
    return _response(responses, context)


def _in_full(outcome: Outcome) -> PartitionProduceResponse:
    return PartitionProduceResponse(**outcome._asdict()) if isinstance(outcome, Produced) else outcome


def _append(
    request: ProduceRequest,
    topic: str,
    data: PartitionProduceData,
    context: RequestContext,
    append: Append,
    outcomes: list[Outcome],
    uncommitted: list[_Uncommitted],
) -> Outcome:
    topic_partition = new_tuple(TopicPartition, (topic, data.index))
    acks, batch = request.acks, data.records
    try:
        if acks not in _ACKS:
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal; only brokers write to it")
        if batch is None:
            raise ApiError(ErrorCode.INVALID_RECORD, "the request holds no record batch for the partition")
        result = append(topic_partition, batch, is_for_all=acks == _ALL)
    except ApiError as error:
        return _refused(error, topic_partition, context)
    base_offset, end_offset, log_start_offset, hosted, log_append_time_ms = result
    if acks == _ALL and end_offset > hosted.partition.high_watermark:
        uncommitted.append(_Uncommitted(outcomes, len(outcomes), result))
    return new_tuple(Produced, (data.index, base_offset, log_append_time_ms, log_start_offset))


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


def _close_on_error(topics: list[tuple[str, list[Outcome]]]) -> None:
    for name, outcomes in topics:
        for outcome in outcomes:
            if outcome.__class__ is not Produced:
                code = ErrorCode(outcome.error_code).name
                raise CloseConnectionError(f"acks=0 to {name}-{outcome.index} failed: {code}")


HANDLER = public(ApiKey.PRODUCE, 3, 11, handle_produce, advertised_from=0)
