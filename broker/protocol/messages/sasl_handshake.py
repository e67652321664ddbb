"""SaslHandshake: client and broker agree on the mechanism before the client authenticates (KIP-43)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, array, int16, string, wire


class SaslHandshakeRequest(
    Request["SaslHandshakeResponse"], api=ApiKey.SASL_HANDSHAKE, versions=(0, 1), flexible_from=None
):
    """What follows differs. 0: bare tokens, each with a four-byte length. 1: SaslAuthenticate requests (KIP-152)."""

    mechanism: str = wire(string)  #: "PLAIN", "SCRAM-SHA-256" …


class SaslHandshakeResponse(Message, api=ApiKey.SASL_HANDSHAKE, versions=(0, 1), flexible_from=None):
    """None, or UNSUPPORTED_SASL_MECHANISM and what else to try."""

    error_code: int = wire(int16)
    mechanisms: list[str] = wire(array(string))  #: those the broker offers, whether or not it accepts
