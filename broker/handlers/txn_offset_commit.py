"""TxnOffsetCommit: offsets of a group that count if the producer's transaction commits."""

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.group.offsets import commit_refused
from broker.handlers.commit_partitions import commit_known
from broker.handlers.group_request import ask_group
from broker.handlers.handler import Reply, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

#: Producers of earlier versions do not expect COORDINATOR_LOAD_IN_PROGRESS here, and some end with it.
_LOADING_IS_KNOWN_VERSION = 2


def handle_txn_offset_commit(request: TxnOffsetCommitRequest, context: RequestContext) -> Reply:
    return commit_known(request, context.services.metadata, lambda known: _commit(known, context))


def _commit(request: TxnOffsetCommitRequest, context: RequestContext) -> Reply:
    try:
        return ask_group(
            request.group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.txn_offset_commit(request, token, now_ms),
        )
    except ApiError as error:
        return commit_refused(request, _code_for(context.api_version, error.code))


def _code_for(api_version: int, code: ErrorCode) -> ErrorCode:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and api_version < _LOADING_IS_KNOWN_VERSION:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code


HANDLER = public(ApiKey.TXN_OFFSET_COMMIT, 0, 4, handle_txn_offset_commit)
