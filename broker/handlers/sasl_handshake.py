"""SaslHandshake of an authenticated client: a repeated login (KIP-368), or a member of the cluster on a listener where
others need none. On a listener with SASL the first login is not handled here.
"""

from broker.common.errors import ErrorCode
from broker.handlers.handler import AuthorizationFailed, Handler
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from broker.runtime.requests.context import RequestContext


def handle_sasl_handshake(request: SaslHandshakeRequest, context: RequestContext) -> SaslHandshakeResponse:
    door = context.session.door
    if door is None:
        return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
    answer, refusal = door.on_handshake(request.mechanism, context.api_version, context.client_id)
    if refusal:
        raise AuthorizationFailed(answer, refusal, is_last=True)
    return answer


HANDLER = Handler(ApiKey.SASL_HANDSHAKE, (0, 1), handle_sasl_handshake, advertised=None)
