"""Mirrors copy topics: who deletes one is told."""

from django.apps import AppConfig


class MirrorsConfig(AppConfig):
    name = "console.mirrors"

    def ready(self) -> None:
        from console.mirrors.topic_users import mirrors_of
        from console.processes.topic_users import USERS

        USERS["mirrors"] = mirrors_of
