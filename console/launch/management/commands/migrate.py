"""`manage.py migrate`: Django's, where there may be no directory for the database yet."""

from django.core.management.commands import migrate

from console.common.data_directories import make_data_directories


class Command(migrate.Command):
    def execute(self, *arguments, **options) -> str | None:
        """Before the checks, which ask the database."""
        make_data_directories()
        return super().execute(*arguments, **options)
