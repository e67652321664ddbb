"""TxnOffsetCommit: offsets of a group that count if the producer's transaction commits."""

from collections.abc import Awaitable, Callable
from copy import copy
from typing import Any
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.group.answers import not_appended
from broker.coordinator.group.offsets import commit_refused
from broker.handlers.authorization import require
from broker.handlers.commit_partitions import CommitWork
from broker.handlers.coordinator_response import checked
from broker.handlers.group_request import ask_group, client_of, coordinating_partition
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from broker.protocol.schema import Message
from broker.runtime.in_turns import InOrder
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from broker.security.operations import AclOperation, ResourceType

#: Producers of earlier versions do not expect COORDINATOR_LOAD_IN_PROGRESS here, and some end with it.
_LOADING_IS_KNOWN_VERSION = 2
#: From this one on they know TRANSACTION_ABORTABLE.
_ABORTABLE_IS_KNOWN_VERSION = 4
#: From this one on they leave it to the coordinator to add the group's offsets to the transaction (KIP-890, part 2).
_ADDS_OFFSETS_VERSION = 5
#: From this one on topics are named by their ids (KIP-1319).
_TOPIC_IDS_VERSION = 6


def handle_txn_offset_commit(request: TxnOffsetCommitRequest, context: RequestContext) -> Reply:
    try:
        require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id, context)
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
    except ApiError as error:
        return _refused(request, error.code)
    if context.api_version >= _TOPIC_IDS_VERSION:
        return _begin_by_id(request, context)
    return _begin(request, context)


def _begin(request: TxnOffsetCommitRequest, context: RequestContext) -> Reply:
    return CommitWork(request, TxnOffsetCommitResponse, context, lambda known: _commit(known, context)).begin()


def _begin_by_id(request: TxnOffsetCommitRequest, context: RequestContext) -> Reply:
    """Commit what is of known topics; the others are refused with UNKNOWN_TOPIC_ID."""
    ids: dict[str, UUID] = {}
    known, unknown = copy(request), copy(request)
    known.topics, unknown.topics = [], []
    for topic in request.topics:
        metadata = context.services.metadata.topic_of_id(topic.topic_id)
        (unknown if metadata is None else known).topics.append(topic)
        if metadata is not None:
            topic.name = metadata.name
            ids[topic.name] = topic.topic_id
    refused = _refused(unknown, ErrorCode.UNKNOWN_TOPIC_ID)

    def finish(response: Message) -> Message:
        answered = checked(response, TxnOffsetCommitResponse)
        for topic in answered.topics:
            topic.topic_id = ids[topic.name]
        answered.topics += refused.topics
        return answered

    return _finished(_begin(known, context), finish) if known.topics else refused


def _finished(reply: Reply, finish: Callable[[Message], Message]) -> Reply:
    """Return the reply with `finish` done to its response."""

    async def later(response: Awaitable[Any]) -> Message:
        return finish(await response)

    if isinstance(reply, InOrder):
        return InOrder(later(reply.reply), reply.is_done)
    if isinstance(reply, Message):
        return finish(reply)
    assert isinstance(reply, Awaitable)
    return later(reply)


def _refused(request: TxnOffsetCommitRequest, code: ErrorCode) -> TxnOffsetCommitResponse:
    """Return the same error for every partition, of topics by name and by id."""
    response = checked(commit_refused(request, code), TxnOffsetCommitResponse)
    for topic, refused in zip(request.topics, response.topics, strict=True):
        refused.topic_id = topic.topic_id
    return response


def _commit(request: TxnOffsetCommitRequest, context: RequestContext) -> Message | Awaitable[Message]:
    """Commit offsets within a transaction, which must be open and have the group's offsets partition in it
    (KIP-890).
    """
    client, producer = client_of(context), (request.producer_id, request.producer_epoch)
    try:
        if min(producer) < 0:
            is_named = request.producer_id >= 0
            raise ApiError(
                ErrorCode.INVALID_PRODUCER_EPOCH if is_named else ErrorCode.INVALID_PRODUCER_ID_MAPPING,
                "offsets of a transaction need a producer id and an epoch",
            )
        partition = coordinating_partition(request.group_id, context)
        context.services.groups.shard(partition)
        reply = context.services.transactional_appends.when_may_write(
            request.transactional_id,
            producer,
            TopicPartition(OFFSETS_TOPIC, partition),
            lambda: ask_group(
                request.group_id,
                context,
                lambda coordinator, token, now_ms: coordinator.txn_offset_commit(request, client, token, now_ms),
            ),
            knows_abortable=context.api_version >= _ABORTABLE_IS_KNOWN_VERSION,
            adds=context.api_version >= _ADDS_OFFSETS_VERSION,
        )
    except ApiError as error:
        return commit_refused(request, _code_for(context.api_version, error.code))
    return reply if isinstance(reply, Message) else _commit_later(reply, request, context)


async def _commit_later(reply: Awaitable[Message], request: TxnOffsetCommitRequest, context: RequestContext) -> Message:
    try:
        return await reply
    except ApiError as error:
        return commit_refused(request, _code_for(context.api_version, error.code))


def _code_for(api_version: int, code: ErrorCode) -> ErrorCode:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and api_version < _LOADING_IS_KNOWN_VERSION:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return not_appended(code)


HANDLER = public(ApiKey.TXN_OFFSET_COMMIT, 0, 6, handle_txn_offset_commit, budget=OF_PARTITIONS)
