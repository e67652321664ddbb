"""Which flows have both ends in reach of this console."""

from console.ecosystem.mirrors.group_move import Ends
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.common.current_cluster import here
from console.kit.gateway.connect import cluster_gateway, mirror_gateways
from console.kit.gateway.interface import ClusterGateway


def reachable() -> dict[str, Ends]:
    """By name. A flow is known by what its mirror says; an alias the settings do not name is this cluster's."""
    others = mirror_gateways()
    known = MirroredTopic.objects.values_list("flow", "cluster").distinct().order_by("flow", "cluster")
    found = (_ends(flow, cluster, others) for flow, cluster in known)
    return {ends.flow: ends for ends in found if ends is not None}


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
