"""Produce: append batches, answer per partition, with acks=all when the records are committed.

With acks=0 there is nobody to answer, so an error closes the connection.
"""

import sys
from collections.abc import Callable, Iterator
from inspect import isawaitable
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode, RecordsRefused
from broker.common.limits import PRODUCE_ENTRIES_MAX
from broker.common.types import TopicPartition, new_tuple
from broker.handlers.handler import Budget, CloseConnectionError, public
from broker.log.validation import Look, NeedsLook
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceNodeEndpoint,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from broker.protocol.produced import FIRST_VERSION, Produced, encode_produced
from broker.protocol.schema import Buffer, Message
from broker.records.batch import check_produced_batch, is_transactional
from broker.runtime.in_turns import in_order, in_turns, once_done
from broker.runtime.replication.batch_looks import BatchLooks
from broker.runtime.replication.repacking import Guard
from broker.runtime.replication.replica_manager import ProduceResult
from broker.runtime.replication.transactional_appends import Append, Batches
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.requests.current_leader import addresses, current_leader, refusal
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from broker.security.operations import Operation, ResourceType
from broker.security.rights import UNLIMITED

#: An enumeration's members cost more to name than to look up.
_WRITE, _TOPIC = Operation.WRITE, ResourceType.TOPIC
_ALL = -1
_ACKS = (_ALL, 0, 1)
#: Batches of one request; each takes a millisecond if its timestamp lets a segment end.
_APPENDED_AT_ONCE = 20


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
        rights, asked = context.session.rights, request.topic_data
        # What small requests pay is counted, and a call more is most of it.
        is_plainly_allowed = rights is UNLIMITED or (
            len(asked) == 1
            and asked[0].name in rights.untold_writes
            and len(asked[0].partition_data) == 1
            and request.transactional_id is None
        )
        if not is_plainly_allowed and _is_forbidden(request, context):
            return _refuse_all(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, context)
        if context.services.repacking.partitions:
            return _when_packed(request, context)
        if request.transactional_id is not None:
            return _when_verified(request, context)
        append = context.services.replicas.append
    left = _APPENDED_AT_ONCE
    topics: list[tuple[str, list[Outcome]]] = []
    uncommitted: list[_Uncommitted] = []
    is_plain = True
    try:
        for topic in request.topic_data:
            outcomes: list[Outcome] = []
            topics.append((topic.name, outcomes))
            left -= len(topic.partition_data)
            if left < 0:
                raise NeedsLook
            for data in topic.partition_data:
                outcome = _append(request, topic.name, data, context, append, outcomes, uncommitted)
                is_plain = is_plain and outcome.__class__ is Produced
                outcomes.append(outcome)
    except NeedsLook:
        return in_order(lambda done: _go_on_in_turns(request, context, append, topics, uncommitted, done))
    return _end(request, context, topics, uncommitted, is_plain=is_plain)


def _is_forbidden(request: ProduceRequest, context: RequestContext) -> bool:
    """Whether all of it is. What may not go to its topic is dropped, and refused when its turn comes (`_without`)."""
    may = context.session.rights.may
    if _is_transactional(request) and (
        request.transactional_id is None
        or not may(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
    ):
        return True
    for topic in request.topic_data:
        if not may(_WRITE, _TOPIC, topic.name):
            for data in topic.partition_data:
                data.records = None
    return False


def _is_transactional(request: ProduceRequest) -> bool:
    for topic in request.topic_data:
        for data in topic.partition_data:
            if data.records is not None and is_transactional(data.records):
                return True
    return False


def _refuse_all(request: ProduceRequest, code: ErrorCode, context: RequestContext) -> Reply:
    topics: list[tuple[str, list[Outcome]]] = [
        (
            topic.name,
            [
                _refused(ApiError(code), TopicPartition(topic.name, data.index), context)
                for data in topic.partition_data
            ],
        )
        for topic in request.topic_data
    ]
    return _end(request, context, topics, [], is_plain=False)


def _end(
    request: ProduceRequest,
    context: RequestContext,
    topics: list[tuple[str, list[Outcome]]],
    uncommitted: list[_Uncommitted],
    *,
    is_plain: bool,
) -> Reply:
    """Everything is appended, or refused."""
    if uncommitted:
        results = [each.result for each in uncommitted]
        return context.services.delayed_produces.wait(
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


async def _go_on_in_turns(
    request: ProduceRequest,
    context: RequestContext,
    append: Append,
    topics: list[tuple[str, list[Outcome]]],
    uncommitted: list[_Uncommitted],
    done: Callable[[], None],
) -> Message | bytes | None:
    """What is left of a request that takes long: it names much, or records must be looked at (`NeedsLook`)."""
    looks = BatchLooks(context.services.turns)

    def rest() -> Iterator[tuple[str, list[Outcome], PartitionProduceData]]:
        for number, topic in enumerate(request.topic_data):
            if number == len(topics):
                topics.append((topic.name, []))
            outcomes = topics[number][1]
            for data in topic.partition_data[len(outcomes) :]:
                yield topic.name, outcomes, data

    async def go_on(entry: tuple[str, list[Outcome], PartitionProduceData]) -> None:
        topic, outcomes, data = entry
        try:
            outcome = _append(request, topic, data, context, append, outcomes, uncommitted)
        except NeedsLook:
            try:
                await looks.look(data.records)
                outcome = _append(request, topic, data, context, append, outcomes, uncommitted, Look.DONE)
            except ApiError as error:
                outcome = _refused(error, TopicPartition(topic, data.index), context)
        outcomes.append(outcome)

    await in_turns(rest(), go_on, context.services.turns)
    done()
    is_plain = all(outcome.__class__ is Produced for _, outcomes in topics for outcome in outcomes)
    reply = _end(request, context, topics, uncommitted, is_plain=is_plain)
    return await reply if isawaitable(reply) else reply


def _when_verified(request: ProduceRequest, context: RequestContext, guard: Guard = lambda append: append) -> Reply:
    """Producers of a transaction stand in line to be verified; whatever takes long is done before."""
    batches = [
        (TopicPartition(topic.name, data.index), data.records)
        for topic in request.topic_data
        for data in topic.partition_data
    ]
    if any(_is_compacted(partition, context) for partition, _ in batches):
        return in_order(lambda done: _look_and_verify(request, context, batches, guard, done))
    return _verify(request, context, batches, {}, guard)


async def _look_and_verify(
    request: ProduceRequest, context: RequestContext, batches: Batches, guard: Guard, done: Callable[[], None]
) -> Message | bytes | None:
    looks = BatchLooks(context.services.turns)
    looked_at: dict[int, ApiError | None] = {}
    for partition, batch in batches:
        if batch is not None and _is_compacted(partition, context):
            try:
                check_produced_batch(batch)
                await looks.look(batch)
                looked_at[id(batch)] = None
            except ApiError as error:
                looked_at[id(batch)] = error
    reply = await once_done(_verify(request, context, batches, looked_at, guard))
    done()
    return await reply if isawaitable(reply) else reply


def _verify(
    request: ProduceRequest,
    context: RequestContext,
    batches: Batches,
    looked_at: dict[int, ApiError | None],
    guard: Guard,
) -> Reply:
    """`looked_at`: what was found in which batches."""

    def produce(verified: Append) -> Reply:
        def append(topic_partition: TopicPartition, batch: Buffer, *, is_for_all: bool, look: Look) -> ProduceResult:
            error = looked_at.get(id(batch))
            if error is not None:
                raise error
            look = Look.DONE if id(batch) in looked_at else Look.WHOLE
            return verified(topic_partition, batch, is_for_all=is_for_all, look=look)

        return handle_produce(request, context, guard(append))

    return context.services.transactional_appends.when_verified(
        request.transactional_id, context.api_version, batches, produce
    )


def _is_compacted(topic_partition: TopicPartition, context: RequestContext) -> bool:
    hosted = context.services.replicas.get(*topic_partition)
    return hosted is not None and hosted.log.config.is_compacted


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
    look: Look = Look.SHORT,
) -> Outcome:
    """Raises NeedsLook, with nothing written."""
    topic_partition = new_tuple(TopicPartition, (topic, data.index))
    acks, batch = request.acks, data.records
    try:
        if batch is None:
            raise _without(topic, context)
        if acks not in _ACKS:
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal; only brokers write to it")
        result = append(topic_partition, batch, is_for_all=acks == _ALL, look=look)
    except ApiError as error:
        return _refused(error, topic_partition, context)
    base_offset, end_offset, log_start_offset, hosted, log_append_time_ms = result
    if acks == _ALL and end_offset > hosted.partition.high_watermark:
        uncommitted.append(_Uncommitted(outcomes, len(outcomes), result))
    return new_tuple(Produced, (data.index, base_offset, log_append_time_ms, log_start_offset))


def _without(topic: str, context: RequestContext) -> ApiError:
    """Why there is no batch."""
    if not context.session.rights.sees(Operation.WRITE, ResourceType.TOPIC, topic):
        return ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return ApiError(ErrorCode.INVALID_RECORD, "the request holds no record batch for the partition")


def _refused(error: ApiError, topic_partition: TopicPartition, context: RequestContext) -> PartitionProduceResponse:
    code = refusal(error, topic_partition, context)
    answer = PartitionProduceResponse(
        index=topic_partition.partition,
        error_code=code,
        base_offset=-1,
        error_message=error.message if code == error.code else code.meaning,
    )
    if isinstance(error, RecordsRefused):
        answer.record_errors = [
            BatchIndexAndErrorMessage(batch_index=at, batch_index_error_message=reason)
            for at, reason in error.records.items()
        ]
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


#: Record batches stay bytes, and are free when they are appended; how long a frame may be at all is for the connection.
_BUDGET = Budget(
    sys.maxsize, PRODUCE_ENTRIES_MAX, bytes_at_once=sys.maxsize, decoded_factor=1, long_answers_from=sys.maxsize
)

#: Versions 0 to 2 are only said: older librdkafka compresses nothing for a broker without version 0 (KAFKA-18659).
HANDLER = public(ApiKey.PRODUCE, 3, 11, handle_produce, advertised_from=0, budget=_BUDGET)
