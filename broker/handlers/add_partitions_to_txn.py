"""AddPartitionsToTxn: partitions become part of a transaction before the first record is written to them.

Up to version 3 a producer names the partitions of its one transaction. From version 4 on leaders ask about many
transactions at once, mostly only whether a partition is part of one (KIP-890); each is put to its own coordinator.
"""

from collections.abc import Callable
from functools import partial

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import denied_topics, require
from broker.handlers.handler import OF_PEERS, Handler
from broker.handlers.transaction_request import ask_when_ended, known_code
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from broker.runtime.in_turns import in_order, in_turns
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from broker.security.operations import AclOperation, ResourceType

_FIRST_BATCHED = 4
#: The first versions whose clients know PRODUCER_FENCED and TRANSACTION_ABORTABLE.
_FENCED_FROM = 2
_ABORTABLE_FROM = 5


def handle_add_partitions_to_txn(request: AddPartitionsToTxnRequest, context: RequestContext) -> Reply:
    """Handle AddPartitionsToTxn. It may wait for the markers of the last transaction; the producer's EndTxn must not
    overtake it, as it cannot in Kafka.
    """
    if context.api_version < _FIRST_BATCHED:
        return in_order(lambda done: _handle_of_producer(request, context, done))
    return _handle_batched(request, context)


async def _handle_of_producer(
    request: AddPartitionsToTxnRequest, context: RequestContext, on_asked: Callable[[], None]
) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=await _of_producer(request, context, on_asked))


async def _handle_batched(request: AddPartitionsToTxnRequest, context: RequestContext) -> AddPartitionsToTxnResponse:
    results = await in_turns(request.transactions, lambda turn: _of_batch(turn, context), context.services.turns)
    return AddPartitionsToTxnResponse(results_by_transaction=results)


async def _of_producer(
    request: AddPartitionsToTxnRequest, context: RequestContext, on_asked: Callable[[], None]
) -> list[AddPartitionsToTxnTopicResult]:
    transactional_id, topics = request.v3_and_below_transactional_id, request.v3_and_below_topics
    try:
        require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id, context)
    except ApiError as error:
        return await _all_of(topics, error.code, context)
    names = {topic.name for topic in topics} - INTERNAL_TOPICS
    denied = INTERNAL_TOPICS.union(await denied_topics(AclOperation.WRITE, names, context))
    return await _add(request, transactional_id, topics, context, denied, on_asked)


async def _of_batch(transaction: AddPartitionsToTxnTransaction, context: RequestContext) -> AddPartitionsToTxnResult:
    alone = AddPartitionsToTxnRequest(transactions=[transaction])
    results = await _add(alone, transaction.transactional_id, transaction.topics, context)
    return AddPartitionsToTxnResult(transactional_id=transaction.transactional_id, topic_results=results)


async def _add(
    request: AddPartitionsToTxnRequest,
    transactional_id: str,
    topics: list[AddPartitionsToTxnTopic],
    context: RequestContext,
    denied: frozenset[str] = frozenset(),
    on_asked: Callable[[], None] = lambda: None,
) -> list[AddPartitionsToTxnTopicResult]:
    """Add all partitions of a transaction, or none."""
    if any(topic.name in denied for topic in topics) or await _has_unknown(topics, context):
        named = [topic for topic in topics if topic.partitions]
        return await _results_of(named, lambda name, index: _why_refused(name, index, context, denied), context)
    try:
        response = await ask_when_ended(
            transactional_id,
            context,
            lambda coordinator, token, now_ms: coordinator.add_partitions_to_txn(token, request, now_ms),
            AddPartitionsToTxnResponse,
            lambda response: _codes(_results(response)),
            on_asked,
        )
    except ApiError as error:
        return await _all_of(topics, error.code, context)
    results = _results(response)
    for topic in results:
        for result in topic.results_by_partition:
            result.partition_error_code = _known(result.partition_error_code, context.api_version)
    with_partitions = {topic.name for topic in results}
    without = dict.fromkeys(topic.name for topic in topics if topic.name not in with_partitions)
    return [*results, *(AddPartitionsToTxnTopicResult(name=name, results_by_partition=[]) for name in without)]


def _results(response: AddPartitionsToTxnResponse) -> list[AddPartitionsToTxnTopicResult]:
    if response.results_by_transaction:
        return response.results_by_transaction[0].topic_results
    return response.results_by_topic_v3_and_below


def _codes(results: list[AddPartitionsToTxnTopicResult]) -> set[int]:
    return {item.partition_error_code for topic in results for item in topic.results_by_partition}


def _known(code: int, api_version: int) -> int:
    if code == ErrorCode.TRANSACTION_ABORTABLE and api_version < _ABORTABLE_FROM:
        return ErrorCode.INVALID_TXN_STATE
    return known_code(code, api_version, fenced_from=_FENCED_FROM)


async def _has_unknown(topics: list[AddPartitionsToTxnTopic], context: RequestContext) -> bool:
    partition_of = context.services.metadata.partition_of
    named = ((topic.name, index) for topic in topics for index in topic.partitions)
    return any(await in_turns(named, lambda turn: partition_of(*turn) is None, context.services.turns))


def _why_refused(topic: str, index: int, context: RequestContext, denied: frozenset[str]) -> ErrorCode:
    """Return a partition's error when nothing is added: its own, or OPERATION_NOT_ATTEMPTED."""
    if topic in denied:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if context.services.metadata.partition_of(topic, index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.OPERATION_NOT_ATTEMPTED


async def _all_of(
    topics: list[AddPartitionsToTxnTopic], code: ErrorCode, context: RequestContext
) -> list[AddPartitionsToTxnTopicResult]:
    return await _results_of(topics, lambda _topic, _index: code, context)


async def _results_of(
    topics: list[AddPartitionsToTxnTopic], code_of: Callable[[str, int], ErrorCode], context: RequestContext
) -> list[AddPartitionsToTxnTopicResult]:
    def result(topic: str, index: int) -> AddPartitionsToTxnPartitionResult:
        return AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code_of(topic, index))

    async def result_of(topic: AddPartitionsToTxnTopic) -> AddPartitionsToTxnTopicResult:
        results = await in_turns(topic.partitions, partial(result, topic.name), context.services.turns)
        return AddPartitionsToTxnTopicResult(name=topic.name, results_by_partition=results)

    return await in_turns(topics, result_of, context.services.turns)


#: Producers are told of the versions that are for them.
HANDLER = Handler(
    ApiKey.ADD_PARTITIONS_TO_TXN,
    (0, 5),
    handle_add_partitions_to_txn,
    advertised=(0, _FIRST_BATCHED - 1),
    members_from=_FIRST_BATCHED,
    members_budget=OF_PEERS,
)
