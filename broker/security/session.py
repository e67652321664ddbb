"""Who speaks on a connection: nobody in particular, until proved otherwise."""

from broker.security.scram import ServerExchange

ANONYMOUS = "User:ANONYMOUS"


class Session:
    """One for each connection, from when it is accepted; `principal` is Kafka's, type and name."""

    __slots__ = ("exchange", "host", "listener", "principal")

    def __init__(self, host: str, listener: str, principal: str = ANONYMOUS):
        self.host = host
        self.listener = listener
        self.principal = principal
        #: The proof that is under way.
        self.exchange: ServerExchange | None = None
