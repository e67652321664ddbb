"""The gateway is told of which cluster the rows are as soon as Django is ready."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "console.state.clusters"

    def ready(self) -> None:
        from console.kit.gateway.connection.identity import set_memory
        from console.state.clusters.queries import cluster_state

        set_memory(lambda: cluster_state().cluster_id)
