"""What protects a topic counts when its service, connector or mirror is gone, too."""

from django.apps import AppConfig


class ProtectionsConfig(AppConfig):
    name = "console.cluster.protections"

    def ready(self) -> None:
        from console.cluster.protections.store import remembered_internal_names, remembered_origins
        from console.cluster.records import origins
        from console.kit.access import internal_topics

        internal_topics.REMEMBERED.append(remembered_internal_names)
        origins.REMEMBERED.append(remembered_origins)
