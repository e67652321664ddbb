"""Connectors run within workers that are processes of the console, and use topics: who ends the one or deletes the
other is told which."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "console.ecosystem.connectors"

    def ready(self) -> None:
        from console.cluster.records.origins import ORIGINS
        from console.ecosystem.connectors.inmates import connectors_of_workers
        from console.ecosystem.connectors.topic_users import connectors_of, origins_of_connectors, own_offset_topics
        from console.kit.access.internal_topics import NAMED_BY
        from console.processes.dependents import INMATES
        from console.processes.topic_users import USERS

        INMATES["connect"] = connectors_of_workers
        USERS["connectors"] = connectors_of
        ORIGINS["connectors"] = origins_of_connectors
        NAMED_BY["connectors"] = own_offset_topics
