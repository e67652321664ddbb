"""`manage.py migrate`: Django's, of every cluster's database, where there may be no file yet, nor a directory."""

from django.conf import settings
from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connection

from console.kit.common.current_cluster import in_cluster
from console.kit.common.data_directories import make_data_directories
from console.kit.common.databases import alias_of, cluster_of, file_of, schema_of
from console.shell.launch.renamed_labels import rename_labels


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database=None)

    def execute(self, *arguments: object, database: str | None = None, **options: object) -> None:
        """Migrate all databases, or the named one; directories are created before the checks."""
        make_data_directories()
        if connection.settings_dict["NAME"] == settings.SQLITE["NAME"]:
            settings.DATABASE_FILE.touch(mode=0o600)
        for name in settings.CLUSTERS:
            make_place_of(name)
        for alias in [database] if database else settings.DATABASES:
            with in_cluster(cluster_of(alias)):
                rename_labels(alias)
                super().execute(*arguments, database=alias, **options)


def make_place_of(cluster: str) -> None:
    """Create an empty database file, or a schema, for the cluster's tables, unless there is one."""
    if settings.DATABASES[alias_of(cluster)]["ENGINE"] == "django.db.backends.sqlite3":
        settings.CLUSTERS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        file_of(settings.CLUSTERS_DIR, cluster).touch(mode=0o600)
    else:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {schema_of(cluster)}")
