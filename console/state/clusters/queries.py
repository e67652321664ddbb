"""Reading what the collector wrote about the cluster as a whole."""

from django.db.models import QuerySet

from console.kit.common.kept_statements import kept_rows
from console.kit.common.names import DEFAULT_CLUSTER
from console.state.clusters.models import Broker, ClusterState


def cluster_state() -> ClusterState:
    """Return the stored state, or an empty unsaved one before the collector has run for the first time."""
    return next(iter(kept_rows(_states)), None) or ClusterState(name=DEFAULT_CLUSTER)


def cluster_id() -> str:
    """Return the cluster.id that the rows were filled from; empty: of none so far."""
    return cluster_state().cluster_id


def _states() -> QuerySet[ClusterState]:
    return ClusterState.objects.filter(name=DEFAULT_CLUSTER)[:1]


def all_brokers() -> list[Broker]:
    return kept_rows(Broker.objects.all)
