"""Who speaks to a group coordinator."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Client:
    """Who sent a JoinGroup: the request header's client id and version, the connection's address."""

    client_id: str
    client_host: str
    api_version: int
