"""SaslHandshake: a client names the mechanism by which it will prove who it is (KIP-43).

Members of the cluster do so on every listener. Not advertised: clients have nothing to prove here.
"""

from broker.common.errors import ErrorCode
from broker.handlers.handler import Handler, RefusedError, RequestContext
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from broker.security.scram import MECHANISM
from broker.security.session import ANONYMOUS


def handle_sasl_handshake(request: SaslHandshakeRequest, context: RequestContext) -> SaslHandshakeResponse:
    session = context.session
    if session.exchange is not None or session.principal != ANONYMOUS:
        raise _refusal(ErrorCode.ILLEGAL_SASL_STATE, "a login within a login, or after it")
    if request.mechanism != MECHANISM:
        raise _refusal(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "a login by another mechanism than is offered")
    session.exchange = context.services.admit()
    return SaslHandshakeResponse(mechanisms=[MECHANISM])


def _refusal(code: ErrorCode, reason: str) -> RefusedError:
    return RefusedError(SaslHandshakeResponse(error_code=code, mechanisms=[MECHANISM]), reason, is_last=True)


#: Not version 0, whose tokens have no frames of their own.
HANDLER = Handler(ApiKey.SASL_HANDSHAKE, (1, 1), handle_sasl_handshake, advertised=None)
