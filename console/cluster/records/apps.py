"""What is hidden of records is hidden where a log quotes them, too: logs stand below, and are told."""

from django.apps import AppConfig


class RecordsConfig(AppConfig):
    name = "console.cluster.records"

    def ready(self) -> None:
        from console.cluster.records.masked_source import hides_of
        from console.processes.access import HIDES

        HIDES.append(hides_of)
