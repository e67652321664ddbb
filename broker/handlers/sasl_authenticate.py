"""SaslAuthenticate: the next token of a login; with the last one the connection speaks for who has proved itself."""

from broker.common.errors import ErrorCode
from broker.common.limits import SASL_TOKEN_BYTES_MAX
from broker.handlers.handler import Handler, RefusedError, RequestContext
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from broker.protocol.schema import Buffer
from broker.security.scram import MECHANISM, AuthenticationError
from broker.security.session import Session

_FAILED = f"Authentication failed during authentication due to invalid credentials with SASL mechanism {MECHANISM}"


def handle_sasl_authenticate(request: SaslAuthenticateRequest, context: RequestContext) -> SaslAuthenticateResponse:
    session = context.session
    if session.exchange is None:
        raise _refusal(ErrorCode.ILLEGAL_SASL_STATE, None, "a token without a SaslHandshake before it")
    try:
        return SaslAuthenticateResponse(auth_bytes=_answer(session, request.auth_bytes))
    except AuthenticationError as error:
        session.exchange = None
        raise _refusal(ErrorCode.SASL_AUTHENTICATION_FAILED, _FAILED, f"authentication failed: {error}") from error


def _answer(session: Session, token: Buffer) -> bytes:
    if len(token) > SASL_TOKEN_BYTES_MAX:
        raise AuthenticationError(f"a token of {len(token)} bytes")
    exchange = session.exchange
    if not exchange.has_begun:
        return exchange.first(bytes(token))
    answer = exchange.final(bytes(token))
    session.exchange = None
    session.principal = f"User:{exchange.user}"
    return answer


def _refusal(code: ErrorCode, message: str | None, reason: str) -> RefusedError:
    return RefusedError(SaslAuthenticateResponse(error_code=code, error_message=message), reason, is_last=True)


HANDLER = Handler(ApiKey.SASL_AUTHENTICATE, (0, 2), handle_sasl_authenticate, advertised=None)
