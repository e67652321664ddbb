"""The cluster's state for the frame every page has around it, and the other clusters of this console."""

from django.conf import settings
from django.http import HttpRequest

from console.kit.access.clusters import cluster_called, may_look, visible_clusters
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import current_cluster, here, is_main
from console.state.clusters.queries import cluster_state


def cluster(request: HttpRequest) -> dict[str, object]:
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return {}
    several = _several(request) if settings.CLUSTERS else {}
    if (settings.CLUSTERS or not is_main()) and not may_look(request.user):
        return {"now_ms": now_ms(), **several}
    runs_brokers = is_main() and settings.RUNS_BROKERS
    state = cluster_state()
    return {
        "cluster": state,
        "now_ms": now_ms(),
        "bootstrap_servers": here.BOOTSTRAP_SERVERS,
        "manages_processes": is_main(),
        "has_connect": runs_brokers or bool(here.CONNECT.addresses),
        "has_registry": runs_brokers or here.SCHEMA_REGISTRY is not None,
        "has_zookeeper": bool(here.ZOOKEEPER) and not state.quorum,
        "has_quorum": bool(state.quorum),
        "runs_brokers": runs_brokers,
        "runs_processes": is_main() and settings.RUNS_PROCESSES,
        **several,
    }


def _several(request: HttpRequest) -> dict[str, object]:
    """Return figures of several clusters, only those that the person may see, also if it is this one."""
    shown = cluster_called(current_cluster()) if may_look(request.user) else None
    return {"clusters": visible_clusters(request.user), "cluster_here": shown, "has_clusters": True}
