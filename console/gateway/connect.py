"""Which gateway the rest of the console gets: the real one to the configured cluster, made once per process."""

from functools import cache
from pathlib import Path

from django.conf import settings

from console.gateway.interface import ClusterGateway
from console.gateway.zookeeper_views import ZooKeeperGateway


@cache
def cluster_gateway() -> ClusterGateway:
    from console.gateway.cluster import KafkaGateway
    from console.gateway.membership import ConsoleMembership

    return KafkaGateway(settings.BOOTSTRAP_SERVERS, ConsoleMembership(zookeeper_gateway))


@cache
def zookeeper_gateway() -> ZooKeeperGateway:
    from console.gateway.znodes import KazooGateway, secret_reader

    digest = settings.ZOOKEEPER_DIGEST_FILE
    return KazooGateway(
        settings.ZOOKEEPER,
        secret_reader(settings.ZOOKEEPER_SECRET_FILE),
        secret_reader(Path(digest)) if digest else None,
    )
