"""OffsetCommit: answered when the offsets are in the log; unknown partitions are refused one by one."""

from collections.abc import Awaitable

from broker.common.errors import ApiError
from broker.coordinator.group.offsets import commit_refused
from broker.handlers.authorization import require
from broker.handlers.commit_partitions import CommitWork
from broker.handlers.group_request import ask_group, client_of
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from broker.protocol.schema import Message
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType


def handle_offset_commit(request: OffsetCommitRequest, context: RequestContext) -> Reply:
    try:
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
    except ApiError as error:
        return commit_refused(request, error.code)
    return CommitWork(request, OffsetCommitResponse, context, lambda known: _commit(known, context)).begin()


def _commit(request: OffsetCommitRequest, context: RequestContext) -> Message | Awaitable[Message]:
    client = client_of(context)
    try:
        return ask_group(
            request.group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.offset_commit(request, client, token, now_ms),
        )
    except ApiError as error:
        return commit_refused(request, error.code)


HANDLER = public(ApiKey.OFFSET_COMMIT, 2, 10, handle_offset_commit, budget=OF_PARTITIONS)
