"""The console as one of Django's applications: whoever sets Django up has the Celery application, which tasks are of.

Celery's documents import it with the package. Then whatever imports a module of ours carries it, also what only keeps
processes alive.
"""

from importlib import import_module

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        import_module("console.celery")
