"""The table that a stream job keeps in a topic."""

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.spark.table import read_table


def table_of(bootstrap_servers: str, topic: str) -> dict[str, object]:
    with ClusterConnections(parse_bootstrap_servers(bootstrap_servers)) as cluster:
        return read_table(cluster, topic, lambda _key: True)
