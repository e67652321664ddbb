"""The words for which clients write and read topics, as each broker counts what reaches it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ClientView:
    """A client as brokers tell it apart. All empty: the clients beyond those that a broker counts one by one."""

    principal: str  #: Kafka's, type and name
    client_id: str
    host: str
    software_name: str = ""  #: of its library, as in ApiVersions (KIP-511); empty: it did not say
    software_version: str = ""


@dataclass(frozen=True, slots=True)
class TrafficView:
    """What a client writes to a topic or reads of it on one broker. Counts begin when the broker met it first."""

    client: ClientView
    topic: str
    is_produce: bool
    records: int
    bytes_count: int
    records_per_second: float
    bytes_per_second: float
    idle_ms: int


class ClientGateway(Protocol):
    def traffic(self) -> Mapping[int, tuple[TrafficView, ...] | None]:
        """By broker, what its clients write and read of late; None for a broker that answers and does not tell.

        Only Barnabas brokers tell. Silent brokers are missing. Raises GatewayError if no broker can be asked.
        """
        ...
