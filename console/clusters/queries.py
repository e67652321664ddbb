"""Reading what the collector wrote about the cluster as a whole."""

from console.clusters.models import ClusterState
from console.common.names import DEFAULT_CLUSTER


def cluster_state() -> ClusterState:
    """The stored state, or an empty unsaved one before the collector has run for the first time."""
    return ClusterState.objects.filter(name=DEFAULT_CLUSTER).first() or ClusterState(name=DEFAULT_CLUSTER)
