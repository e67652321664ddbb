"""Mirrors copy topics: who deletes one is told."""

from django.apps import AppConfig


class MirrorsConfig(AppConfig):
    name = "console.ecosystem.mirrors"

    def ready(self) -> None:
        from console.cluster.records.origins import ORIGINS
        from console.ecosystem.mirrors.topic_users import mirrors_of, origins_of_copies
        from console.processes.topic_users import USERS

        USERS["mirrors"] = mirrors_of
        ORIGINS["mirrors"] = origins_of_copies
