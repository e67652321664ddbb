"""What a client of a cluster may meet; each message is one sentence for a person."""

from broker.common.errors import BarnabasError, ErrorCode


class BrokerUnreachable(BarnabasError):
    """No connection, no answer in time, or the connection broke; whether the request was handled is unknown."""


class LoginRefused(BarnabasError):
    """The broker and this client do not know the same secret."""


class ApiNotServed(BarnabasError):
    """The broker is of another kind, or of another age: it does not serve the API in a version known here."""


def told_code(number: int) -> ErrorCode:
    """What a broker answered; one that is younger than this client may have codes that nobody knows here."""
    try:
        return ErrorCode(number)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR
