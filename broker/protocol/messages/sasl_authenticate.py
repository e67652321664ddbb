"""SaslAuthenticate: one token of the mechanism's dialogue in each direction (KIP-152)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, bytes_, int16, int64, string, wire


class SaslAuthenticateRequest(
    Request["SaslAuthenticateResponse"], api=ApiKey.SASL_AUTHENTICATE, versions=(0, 2), flexible_from=2
):
    """The client's next token, as its mechanism defines it."""

    auth_bytes: Buffer = wire(bytes_, secret=True)


class SaslAuthenticateResponse(Message, api=ApiKey.SASL_AUTHENTICATE, versions=(0, 2), flexible_from=2):
    """The broker's answer to the token. 1: the session ends unless the client authenticates again (KIP-368)."""

    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    auth_bytes: Buffer = wire(bytes_, secret=True)
    session_lifetime_ms: int = wire(int64, since=1, ignorable=True)  #: from now; 0 for a session without end
