"""What a client of a cluster may meet; each message is one sentence for a person."""

from broker.common.errors import BarnabasError


class BrokerUnreachable(BarnabasError):
    """No connection, no answer in time, or the connection broke; whether the request was handled is unknown."""


class ClosedAtOnce(BrokerUnreachable):
    """The other end hung up before it had answered anything; so does a listener that wants TLS or a login."""


class UnreadableAnswer(BrokerUnreachable):
    """What came is no answer, or one that breaks the protocol; waiting does not mend it."""


class AccessRefused(BarnabasError):
    """The broker does not trust this client, or this client the broker: nothing that passes by itself."""


class LoginRefused(AccessRefused):
    """The broker rejects this client's identity."""


class NotTrusted(AccessRefused):
    """TLS: a certificate that one of the two does not take, or no TLS there at all."""


class ApiNotServed(BarnabasError):
    """The broker is of another kind, or of another age: it does not serve the API in a version known here."""
