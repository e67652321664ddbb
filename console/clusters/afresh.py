"""Forgetting a cluster, so that another one may have its name: all that was seen of it, and all that was to be done."""

from django.apps import apps

from console.audit.record import record_event
from console.clusters.queries import cluster_state
from console.common.current_cluster import current_cluster
from console.common.databases import OF_CLUSTER, cluster_atomic

#: Not of the cluster: processes of this host, what somebody wants to be warned of, and who has to be asked. What heals
#: by itself was agreed to for the old cluster, and goes.
STAYS = frozenset(
    {"processes.managedprocess", "processes.withdrawnprocess", "alerts.keptrule", "changes.changerule"},
)


def start_afresh() -> int:
    """Delete what is kept of the current cluster; how many rows that were. Collectors have to be started again."""
    was = cluster_state().cluster_id
    models = [each for each in apps.get_models() if each._meta.app_label in OF_CLUSTER]
    with cluster_atomic():
        count = sum(each.objects.all().delete()[0] for each in models if each._meta.label_lower not in STAYS)
        record_event(
            None, "start afresh", "cluster", current_cluster(), {"cluster_id": was}, None, detail=f"{count:,} rows"
        )
    return count
