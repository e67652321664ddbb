"""RenewDelegationToken: its owner or a renewer has a token live on, as far as its end."""

from broker.common.errors import ApiError
from broker.handlers.delegation_token_request import asker_of, require_enabled, time_of_refused
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from broker.runtime.requests.context import RequestContext


async def handle_renew_delegation_token(
    request: RenewDelegationTokenRequest, context: RequestContext
) -> RenewDelegationTokenResponse:
    try:
        asker = asker_of(context)
        require_enabled(context)
        tokens = context.services.delegation_tokens
        expiry_ms = await tokens.renew(bytes(request.hmac), asker, request.renew_period_ms)
    except ApiError as error:
        return RenewDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=time_of_refused(error))
    return RenewDelegationTokenResponse(expiry_timestamp_ms=expiry_ms)


HANDLER = public(ApiKey.RENEW_DELEGATION_TOKEN, 0, 2, handle_renew_delegation_token)
