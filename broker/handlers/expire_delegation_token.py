"""ExpireDelegationToken: its owner or a renewer has a token end sooner, or at once."""

from broker.common.errors import ApiError
from broker.handlers.delegation_token_request import asker_of, require_enabled, time_of_refused
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest, ExpireDelegationTokenResponse
from broker.runtime.requests.context import RequestContext


async def handle_expire_delegation_token(
    request: ExpireDelegationTokenRequest, context: RequestContext
) -> ExpireDelegationTokenResponse:
    try:
        asker = asker_of(context)
        require_enabled(context)
        tokens = context.services.delegation_tokens
        expiry_ms = await tokens.expire(bytes(request.hmac), asker, request.expiry_time_period_ms)
    except ApiError as error:
        return ExpireDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=time_of_refused(error))
    return ExpireDelegationTokenResponse(expiry_timestamp_ms=expiry_ms)


HANDLER = public(ApiKey.EXPIRE_DELEGATION_TOKEN, 0, 2, handle_expire_delegation_token)
