"""CreateDelegationToken: whoever has logged in may have tokens for themselves, and some for others (KIP-373)."""

from broker.common.errors import ApiError
from broker.handlers.delegation_token_request import asker_of, require_enabled, time_of_refused
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from broker.runtime.requests.context import RequestContext
from broker.security.delegation_tokens import Principal, check_parties, parse_principal


async def handle_create_delegation_token(
    request: CreateDelegationTokenRequest, context: RequestContext
) -> CreateDelegationTokenResponse:
    requester = parse_principal(context.session.principal)
    owner = _owner(request, requester)
    response = CreateDelegationTokenResponse(
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type,
        token_requester_principal_name=requester.name,
    )
    try:
        await _create(request, owner, context, response)
    except ApiError as error:
        time = time_of_refused(error)
        response.error_code = error.code
        response.issue_timestamp_ms = response.expiry_timestamp_ms = response.max_timestamp_ms = time
    return response


async def _create(
    request: CreateDelegationTokenRequest,
    owner: Principal,
    context: RequestContext,
    response: CreateDelegationTokenResponse,
) -> None:
    requester = asker_of(context)
    renewers = tuple(Principal(renewer.principal_type, renewer.principal_name) for renewer in request.renewers)
    check_parties(owner, requester, renewers, context.session.rights)
    require_enabled(context)
    tokens = context.services.delegation_tokens
    token, response.hmac = await tokens.create(owner, requester, renewers, request.max_lifetime_ms)
    response.token_id = token.token_id
    response.issue_timestamp_ms = token.issued_ms
    response.expiry_timestamp_ms = token.expiry_ms
    response.max_timestamp_ms = token.max_ms


def _owner(request: CreateDelegationTokenRequest, requester: Principal) -> Principal:
    if not request.owner_principal_name:
        return requester
    return Principal(request.owner_principal_type or "", request.owner_principal_name)


HANDLER = public(ApiKey.CREATE_DELEGATION_TOKEN, 0, 3, handle_create_delegation_token)
