"""What protects a topic counts when its service, connector or mirror is gone, too."""

from django.apps import AppConfig


class ProtectionsConfig(AppConfig):
    name = "console.protections"

    def ready(self) -> None:
        from console.access import internal_topics
        from console.protections.store import remembered_internal_names, remembered_origins
        from console.records import origins

        internal_topics.REMEMBERED.append(remembered_internal_names)
        origins.REMEMBERED.append(remembered_origins)
