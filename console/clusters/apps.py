"""The gateway is told of which cluster the rows are as soon as Django is ready."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "console.clusters"

    def ready(self) -> None:
        from console.clusters.queries import cluster_state
        from console.gateway.identity import set_memory

        set_memory(lambda: cluster_state().cluster_id)
