"""The gateway to a cluster of real processes."""

from console.gateway.cluster import KafkaGateway
from console.gateway.membership import ConsoleMembership
from console.gateway.znodes import KazooGateway
from tests.barnabas_cluster import Cluster


def kafka_gateway(cluster: Cluster) -> KafkaGateway:
    return KafkaGateway(cluster.bootstrap_servers, ConsoleMembership(lambda: KazooGateway(cluster.zookeeper.connect)))
