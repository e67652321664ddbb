"""Which gateways the rest of the console gets: what the settings of the current cluster name, made once per process."""

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from console.kit.common.current_cluster import bound, current_cluster, here
from console.kit.gateway.connection.identity import remembered
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.zookeeper.interface import NoSuchZnodeError, ZooKeeperGateway


def cluster_gateway() -> ClusterGateway:
    """Return `settings.CLUSTER_GATEWAY`: the name of a function that makes one, or a gateway itself."""
    wanted = here.CLUSTER_GATEWAY
    return _made(wanted, current_cluster()) if isinstance(wanted, str) else wanted


def zookeeper_gateway() -> ZooKeeperGateway:
    """Return `settings.ZOOKEEPER_GATEWAY`, as `cluster_gateway` does."""
    wanted = here.ZOOKEEPER_GATEWAY
    return _made(wanted, current_cluster()) if isinstance(wanted, str) else wanted


@cache
def _made(name: str, _cluster: str) -> Any:
    return import_string(name)()


def kafka_gateway() -> ClusterGateway:
    """Return the gateway to the configured cluster."""
    from console.kit.gateway.cluster import KafkaGateway
    from console.kit.gateway.connection.client import ClusterClient
    from console.kit.gateway.connection.membership import ConsoleMembership

    client = ClusterClient(
        here.BOOTSTRAP_SERVERS, here.CLIENT_CONFIG, is_required=here.CLIENT_CONFIG_IS_NAMED, meant=bound(remembered)
    )
    return KafkaGateway(client, ConsoleMembership(bound(zookeeper_gateway) if here.ZOOKEEPER else _no_zookeeper))


def mirror_gateways() -> dict[str, ClusterGateway]:
    """Return the gateways by alias to the clusters of mirrors from here or to here, for topics, records and groups."""
    return {
        alias: _mirror_gateway(alias, wanted) if isinstance(wanted, str) else wanted
        for alias, wanted in here.MIRROR_CLUSTERS.items()
    }


@cache
def _mirror_gateway(alias: str, servers: str) -> ClusterGateway:
    from console.kit.gateway.cluster import KafkaGateway
    from console.kit.gateway.connection.client import ClusterClient
    from console.kit.gateway.connection.membership import ConsoleMembership

    client = ClusterClient(servers, str(settings.SECRETS_DIR / f"mirror-{alias}.properties"), is_required=False)
    return KafkaGateway(client, ConsoleMembership(_zookeeper_of_others))


def _no_zookeeper() -> ZooKeeperGateway:
    raise NoSuchZnodeError("The ZooKeeper of this cluster is not known here.")


def _zookeeper_of_others() -> ZooKeeperGateway:
    raise GatewayError("This is another cluster, whose ZooKeeper is not known here.")


def client_config_in_use() -> str:
    """Return the path of the client configuration by which the cluster is reached now; empty for plain connections."""
    in_use = here.CLIENT_CONFIG_IS_NAMED or Path(here.CLIENT_CONFIG).exists()
    return here.CLIENT_CONFIG if in_use else ""


def kazoo_gateway() -> ZooKeeperGateway:
    """Return the gateway to the configured ensemble."""
    from console.kit.gateway.zookeeper.znodes import KazooGateway, secret_reader

    digest = here.ZOOKEEPER_DIGEST_FILE
    return KazooGateway(
        here.ZOOKEEPER,
        secret_reader(here.ZOOKEEPER_SECRET_FILE),
        secret_reader(Path(digest)) if digest else None,
        here.ZOOKEEPER_TLS_FILE,
    )
