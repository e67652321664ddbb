"""Where a cluster of a mirror is and how one gets in: an alias, addresses, and Kafka's client properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.errors import BrokerUnreachable
from broker.client.security.librdkafka import librdkafka_settings
from broker.client.security.properties import ClientSecurity, read_security

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class ClusterAddress:
    alias: str
    bootstrap_servers: str
    security: ClientSecurity

    def connect(self) -> ClusterConnections:
        return ClusterConnections(
            parse_bootstrap_servers(self.bootstrap_servers),
            timeout_s=_TIMEOUT_S,
            client_id="mirror",
            security=self.security,
        )

    def client(self) -> dict[str, Any]:
        """Return the settings for confluent-kafka, with secrets. Its own log lines are off: mirrors report outages."""
        return {
            "bootstrap.servers": self.bootstrap_servers,
            "client.id": "mirror",
            "log_level": 0,
            **librdkafka_settings(self.security),
        }

    def admin(self) -> "AdminClient":
        from confluent_kafka.admin import AdminClient

        return AdminClient(self.client())

    def cluster_id(self) -> str:
        """Raises BrokerUnreachable, also of a cluster that does not tell one."""
        with self.connect() as cluster:
            cluster_id = cluster.describe_topics([]).cluster_id
        if not cluster_id:
            raise BrokerUnreachable(f"cluster {self.alias} at {self.bootstrap_servers} does not tell its id")
        return cluster_id


def read_address(alias: str, properties: Mapping[str, str]) -> ClusterAddress:
    """Raises ValueError with a sentence, ClientConfigError."""
    servers = properties.get("bootstrap.servers", "")
    if not servers.strip():
        raise ValueError(f"cluster {alias} has no bootstrap.servers")
    parse_bootstrap_servers(servers)
    return ClusterAddress(alias, servers, read_security(properties))
