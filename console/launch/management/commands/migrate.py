"""`manage.py migrate`: Django's, where there may be no database file yet, nor a directory for it."""

from django.conf import settings
from django.core.management.commands import migrate
from django.db import connection

from console.common.data_directories import make_data_directories


class Command(migrate.Command):
    def execute(self, *arguments, **options) -> str | None:
        """Before the checks, which ask the database."""
        make_data_directories()
        if connection.settings_dict["NAME"] == settings.SQLITE["NAME"]:
            settings.DATABASE_FILE.touch(mode=0o600)
        return super().execute(*arguments, **options)
