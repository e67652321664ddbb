"""Connectors run within workers that are processes of the console, and use topics: who ends the one or deletes the
other is told which."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "console.connectors"

    def ready(self) -> None:
        from console.connectors.inmates import connectors_of_workers
        from console.connectors.topic_users import connectors_of
        from console.processes.dependents import INMATES
        from console.processes.topic_users import USERS

        INMATES["connect"] = connectors_of_workers
        USERS["connectors"] = connectors_of
