"""InitProducerId: an id and an epoch, for an idempotent producer or for the next one of a transactional id.

A transactional id's coordinator ends what the id's last producer left open, and refuses that producer from then on.
"""

from broker.common.errors import ApiError
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.outcome import TransactionOutcome
from broker.handlers.authorization import require, require_on_cluster
from broker.handlers.coordinator_response import response_of
from broker.handlers.group_request import client_of
from broker.handlers.handler import public
from broker.handlers.transaction_request import ask_transaction, known_code
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType

#: The first version whose clients know PRODUCER_FENCED.
_FENCED_FROM = 4
#: Two-phase commit is asked for from version 6 on, which Kafka 4.4 does not serve either if it is not set to.
_LAST_STABLE, _LAST = 5, 6


async def handle_init_producer_id(request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    """Return a producer id. Without a transactional id, a producer that sends its id again gets a new one (KIP-360).

    Who may write to any topic may have one (KIP-679).
    """
    try:
        if request.transactional_id is not None:
            require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id, context)
            if request.enable2_pc:
                require(AclOperation.TWO_PHASE_COMMIT, ResourceType.TRANSACTIONAL_ID, request.transactional_id, context)
            return await _init_transactional(request, request.transactional_id, context)
        if not context.session.rights.may_on_any(AclOperation.WRITE, ResourceType.TOPIC):
            require_on_cluster(AclOperation.IDEMPOTENT_WRITE, context)
        producer_id = await context.services.producer_ids.next_id()
    except ApiError as error:
        return InitProducerIdResponse(error_code=error.code, producer_epoch=-1)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


async def _init_transactional(
    request: InitProducerIdRequest, transactional_id: str, context: RequestContext
) -> InitProducerIdResponse:
    """Initialize a transactional producer. A fresh id is taken before the coordinator is asked, and given back if it
    was not needed.
    """
    producer_ids = context.services.producer_ids
    fresh_id = await producer_ids.next_id()
    is_used, owner = False, client_of(context).owner

    def ask(coordinator: TransactionCoordinator, token: int, now_ms: int) -> TransactionOutcome:
        nonlocal is_used
        outcome = coordinator.init_producer_id(token, request, owner, fresh_id, now_ms)
        is_used = outcome.used_producer_id
        return outcome

    try:
        reply = ask_transaction(transactional_id, context, ask)
    finally:
        if not is_used:
            producer_ids.give_back(fresh_id)
    response = await response_of(reply, InitProducerIdResponse)
    response.error_code = known_code(response.error_code, context.api_version, fenced_from=_FENCED_FROM)
    return response


HANDLER = public(
    ApiKey.INIT_PRODUCER_ID,
    0,
    _LAST,
    handle_init_producer_id,
    last_if=lambda config: _LAST if config.transaction_two_phase_commit_enable else _LAST_STABLE,
)
