"""What the APIs of delegation tokens have in common: who may ask at all, and that there are tokens on this cluster."""

from broker.common.errors import ApiError, ErrorCode
from broker.runtime.requests.context import RequestContext
from broker.security.delegation_tokens import Principal, parse_principal
from broker.security.membership import is_member
from broker.security.session import ANONYMOUS


def asker_of(context: RequestContext) -> Principal:
    """Return the principal that asks. ApiError DELEGATION_TOKEN_REQUEST_NOT_ALLOWED if it did not log in, or did so by
    a token.

    Without a login there is no principal but ANONYMOUS: on PLAINTEXT, and on SSL without a certificate. Members of the
    cluster have a login of their own everywhere, and no use for tokens.
    """
    session = context.session
    if session.principal == ANONYMOUS or session.is_by_token or is_member(session):
        raise ApiError(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    return parse_principal(session.principal)


def time_of_refused(error: ApiError) -> int:
    """Return what stands for each time in a refusal: 0 where there are no tokens at all, as Kafka's controller has it,
    else -1.
    """
    return 0 if error.code is ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED else -1


def require_enabled(context: RequestContext) -> None:
    """Raise ApiError(DELEGATION_TOKEN_AUTH_DISABLED) unless tokens are enabled."""
    if not context.services.delegation_tokens.is_enabled:
        raise ApiError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
