"""Which clusters a person may look at at all. Others do not exist for the person, names included."""

from django.conf import settings

from console.kit.access.rights import Person, reach_in
from console.kit.access.roles import Right
from console.kit.common.current_cluster import all_clusters, current_cluster
from console.kit.common.declared_clusters import DeclaredCluster


def cluster_called(name: str) -> DeclaredCluster:
    """Return the declared cluster of that name; the first is not in `settings.CLUSTERS`."""
    return settings.CLUSTERS.get(name, settings.MAIN_CLUSTER)


def declared_clusters() -> list[DeclaredCluster]:
    """Return the declared clusters, the first one first."""
    return [cluster_called(name) for name in all_clusters()]


def may_look(user: Person, cluster: str | None = None) -> bool:
    """Return whether anything in `cluster`, or else the current one, is for `user`."""
    return Right.VIEW in reach_in(user, cluster or current_cluster()).rights_anywhere


def visible_clusters(user: Person) -> list[DeclaredCluster]:
    """Return the clusters that the user may see, the first one first."""
    return [cluster for cluster in declared_clusters() if may_look(user, cluster.name)]
