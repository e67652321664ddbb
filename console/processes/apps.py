"""Processes of services keep what they know in topics, which are internal ones."""

from django.apps import AppConfig


class ProcessesConfig(AppConfig):
    name = "console.processes"

    def ready(self) -> None:
        from console.kit.access.internal_topics import NAMED_BY
        from console.processes.service_topics import topics_of_services

        NAMED_BY["processes"] = topics_of_services
