"""DescribeDelegationToken: tokens of the chosen owners, without those that the client may not see."""

from broker.common.errors import ApiError
from broker.handlers.delegation_token_request import asker_of, require_enabled
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.delegation_tokens import DelegationToken, Principal, is_shown


async def handle_describe_delegation_token(
    request: DescribeDelegationTokenRequest, context: RequestContext
) -> DescribeDelegationTokenResponse:
    try:
        asker = asker_of(context)
        require_enabled(context)
    except ApiError as error:
        return DescribeDelegationTokenResponse(error_code=error.code)
    if request.owners == []:
        return DescribeDelegationTokenResponse()
    owners = None
    if request.owners is not None:
        owners = frozenset(Principal(owner.principal_type, owner.principal_name) for owner in request.owners)
    described = await in_turns(
        context.services.delegation_tokens,
        lambda token: _describe(token, context) if is_shown(token, owners, asker, context.session.rights) else None,
        context.services.turns,
    )
    return DescribeDelegationTokenResponse(tokens=[token for token in described if token])


def _describe(token: DelegationToken, context: RequestContext) -> DescribedDelegationToken:
    return DescribedDelegationToken(
        principal_type=token.owner.type,
        principal_name=token.owner.name,
        token_requester_principal_type=token.requester.type,
        token_requester_principal_name=token.requester.name,
        issue_timestamp_ms=token.issued_ms,
        expiry_timestamp_ms=token.expiry_ms,
        max_timestamp_ms=token.max_ms,
        token_id=token.token_id,
        hmac=context.services.delegation_tokens.hmac_of(token.token_id),
        renewers=[
            DescribedDelegationTokenRenewer(principal_type=renewer.type, principal_name=renewer.name)
            for renewer in token.renewers
        ],
    )


HANDLER = public(ApiKey.DESCRIBE_DELEGATION_TOKEN, 0, 3, handle_describe_delegation_token, budget=OF_EVERYTHING)
