"""Connectors run within workers that are processes of the console: who ends one is told which."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    name = "console.connectors"

    def ready(self) -> None:
        from console.connectors.inmates import connectors_of_workers
        from console.processes.dependents import INMATES

        INMATES["connect"] = connectors_of_workers
