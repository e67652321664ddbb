"""The client that speaks to a group coordinator."""

from dataclasses import dataclass

from broker.common.shared_budget import ANONYMOUS, Owner, owner_of


@dataclass(frozen=True, slots=True)
class GroupClientInfo:
    """The sender of a request: its header's client id and version, the connection's address and principal."""

    client_id: str
    client_host: str
    api_version: int
    principal: str = ANONYMOUS

    @property
    def owner(self) -> Owner:
        """The client whose memory share the request counts for."""
        return owner_of(self.principal, self.client_host)
