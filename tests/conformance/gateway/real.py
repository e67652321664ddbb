"""The gateway to a cluster of real processes."""

import contextlib

from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.zookeeper.interface import ZnodeView
from console.kit.gateway.zookeeper.znodes import KazooGateway
from tests.barnabas_cluster import Cluster


class BriefLook:
    """Into ZooKeeper: a session that outlives its server keeps the process of the tests from ending."""

    def __init__(self, connect: str):
        self._connect = connect

    def look(self, path: str) -> ZnodeView:
        with contextlib.closing(KazooGateway(self._connect)) as gateway:
            return gateway.look(path)


def kafka_gateway(cluster: Cluster, config_file: str = "") -> KafkaGateway:
    client = ClusterClient(cluster.bootstrap_servers, config_file)
    return KafkaGateway(client, ConsoleMembership(lambda: BriefLook(cluster.zookeeper.connect)))
