"""SaslAuthenticate out of its place: while a login is under way, tokens are not asked of handlers."""

from broker.common.errors import ErrorCode
from broker.handlers.handler import Handler
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from broker.runtime.requests.context import RequestContext

_TOO_LATE = "SaslAuthenticate request received after successful authentication"


def handle_sasl_authenticate(_request: SaslAuthenticateRequest, _context: RequestContext) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=_TOO_LATE)


HANDLER = Handler(ApiKey.SASL_AUTHENTICATE, (0, 2), handle_sasl_authenticate, advertised=None)
