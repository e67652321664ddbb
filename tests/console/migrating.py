"""The database as it was before a migration, for rows that have to survive it."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

#: App label and name of a migration.
Targets = list[tuple[str, str]]


def migrate(targets: Targets) -> Apps:
    """Go there, back or forth; the models as they are then."""
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


@contextmanager
def migrated(targets: Targets) -> Iterator[Apps]:
    """Inside of it `targets` is as far as it goes; afterwards everything is as it was."""
    try:
        yield migrate(targets)
    finally:
        migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())
