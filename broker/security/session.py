"""The principal of a connection, anonymous until authenticated, and its rights."""

from typing import Protocol

from broker.common.shared_budget import ANONYMOUS, Owner, owner_of
from broker.protocol.messages.sasl_handshake import SaslHandshakeResponse
from broker.security.client_traffic import UNMET, ClientIdentity, TrafficOfClient
from broker.security.quotas.meter import QuotaMeter
from broker.security.rights import UNLIMITED, Rights

__all__ = ["ANONYMOUS", "Door", "Session"]


class Door(Protocol):
    """Where a connection's login begins."""

    #: Whether clients are told of it: members of the cluster log in on every listener.
    is_for_clients: bool

    def on_handshake(self, mechanism: str, version: int, client_id: str) -> tuple[SaslHandshakeResponse, str]:
        """Begin a login on an open connection, the first or a further one: return the answer, and why it is refused."""
        ...

    def close(self) -> None:
        """Let go of what the connection holds."""


class Session:
    """One for each connection, from when it is accepted; `principal` is Kafka's, type and name."""

    __slots__ = (
        "_owner",
        "_principal",
        "door",
        "host",
        "is_by_token",
        "is_member",
        "listener",
        "meter",
        "rights",
        "software",
        "traffic",
    )

    def __init__(
        self,
        host: str,
        listener: str,
        principal: str = ANONYMOUS,
        rights: Rights = UNLIMITED,
        *,
        is_member: bool = False,
    ):
        self.host = host
        self.listener = listener
        self._principal = principal
        self._owner: Owner | None = None
        self.rights = rights
        #: What measured its last request, if anything does.
        self.meter: QuotaMeter | None = None
        #: Name and version of the client's library, as it said in ApiVersions; empty: it did not.
        self.software = ("", "")
        #: What its last Produce or Fetch was added to.
        self.traffic: TrafficOfClient = UNMET
        #: A broker, or who has the cluster's secret: not by its name, but by what it has proved.
        self.is_member = is_member
        #: It has logged in by a delegation token.
        self.is_by_token = False
        self.door: Door | None = None

    @property
    def principal(self) -> str:
        return self._principal

    @principal.setter
    def principal(self, principal: str) -> None:
        """Set the principal: other quotas apply from now on."""
        self._principal = principal
        self._owner = None
        self.meter = None
        self.traffic = UNMET

    @property
    def owner(self) -> Owner:
        """The client for shared budgets."""
        if self._owner is None:
            self._owner = owner_of(self._principal, f"/{self.host}")
        return self._owner

    def introduce(self, software_name: str, software_version: str) -> None:
        """Note the client's library: what it writes and reads from now on is counted for that one."""
        self.software = (software_name, software_version)
        self.traffic = UNMET

    def identity(self, client_id: str) -> ClientIdentity:
        return ClientIdentity(self._principal, client_id, self.host, *self.software)
