"""The words for which clients write and read topics, as each broker counts what reaches it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ClientView:
    """A client as brokers identify it. All empty: the clients that a broker does not count one by one."""

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
        """Return by broker what its clients recently wrote and read; None for a broker that does not report it.

        Only Barnabas brokers tell. Silent brokers are missing. Raises GatewayError if no broker can be asked.
        """
        ...
