"""What a cluster's audit topic tells at the moment."""

from collections.abc import Iterable

from broker.audit.latency import Latency
from broker.audit.ledger import AuditState
from broker.audit.topic import read_ledger
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers


def ledger_of(bootstrap_servers: str) -> AuditState:
    with ClusterConnections(parse_bootstrap_servers(bootstrap_servers), timeout_s=30) as cluster:
        return read_ledger(cluster)


def merged(latencies: Iterable[Latency]) -> Latency:
    """Return the sum of all."""
    whole = Latency()
    for latency in latencies:
        whole.merge(latency)
    return whole
