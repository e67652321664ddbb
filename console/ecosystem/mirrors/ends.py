"""Which flows have both ends in reach of this console."""

from dataclasses import replace

from django.conf import settings
from django.db import DatabaseError
from django.utils.connection import ConnectionDoesNotExist

from console.ecosystem.mirrors.group_move import Ends
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.common.current_cluster import MAIN, all_clusters, current_cluster, here, in_cluster
from console.kit.gateway.connect import cluster_gateway, mirror_gateways
from console.kit.gateway.interface import ClusterGateway
from console.state.clusters.queries import cluster_state


def reachable() -> dict[str, Ends]:
    """Return the reachable ends of flows by cluster name. An alias that the settings do not name is this cluster."""
    others = mirror_gateways()
    known = MirroredTopic.objects.values_list("flow", "cluster").distinct().order_by("flow", "cluster")
    pairs = (_ends(flow, cluster, others) for flow, cluster in known)
    return {ends.flow: ends for ends in pairs if ends is not None}


def _ends(flow: str, cluster: str, others: dict[str, ClusterGateway]) -> Ends | None:
    source = flow.partition("->")[0]
    if (cluster and cluster not in others) or (not cluster and source not in others):
        return None  # where the group reads now is not known here
    return Ends(
        flow, others.get(source, cluster_gateway()), others.get(cluster, cluster_gateway()), cluster,
        _servers(source), _servers(cluster),
    )  # fmt: skip


def _servers(alias: str) -> str:
    wanted = here.MIRROR_CLUSTERS.get(alias, here.BOOTSTRAP_SERVERS)
    return wanted if isinstance(wanted, str) else alias


def with_clusters(ends: Ends) -> Ends:
    """Return the ends with the other clusters of this console that they are. Raises GatewayError.

    An alias of a mirror is no name of this console: a cluster is known by its cluster.id, its addresses and its name.
    """
    return replace(
        ends,
        source_clusters=_clusters_of(ends.source, ends.source_name, ends.source_servers),
        target_clusters=_clusters_of(ends.target, ends.target_name, ends.target_servers),
    )


def _clusters_of(gateway: ClusterGateway, alias: str, servers: str) -> frozenset[str]:
    if gateway is cluster_gateway():
        return frozenset()
    others = [name for name in all_clusters() if name != current_cluster()]
    cluster_id = gateway.describe_cluster().cluster_id if others else ""
    return frozenset(
        name
        for name in others
        if name == alias
        or _hosts(servers) & _hosts(_bootstrap_of(name))
        or (cluster_id and cluster_id == _known_id(name))
    )


def _hosts(servers: str) -> set[str]:
    return {part.strip().lower() for part in servers.split(",")} - {""}


def _bootstrap_of(name: str) -> str:
    return str(settings.BOOTSTRAP_SERVERS if name == MAIN else settings.CLUSTERS[name].values["BOOTSTRAP_SERVERS"])


def _known_id(name: str) -> str:
    """Return the cluster.id that the console knows of one of its clusters; empty while its database cannot be read."""
    try:
        with in_cluster(name):
            return cluster_state().cluster_id
    except (DatabaseError, ConnectionDoesNotExist):
        return ""
