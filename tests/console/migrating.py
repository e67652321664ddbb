"""The database as it was before a migration, for rows that have to survive it."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

#: App label and name of a migration.
Targets = list[tuple[str, str]]


class OneByOne(MigrationLoader):
    """All migrations that there were; those into which they were squashed, which have no way back, are left out."""

    def load_disk(self) -> None:
        super().load_disk()
        squashed = {key: each.replaces[-1] for key, each in self.disk_migrations.items() if each.replaces}
        for key in squashed:
            del self.disk_migrations[key]
        for each in self.disk_migrations.values():
            each.dependencies = [squashed.get(tuple(wanted), wanted) for wanted in each.dependencies]


def step_by_step() -> MigrationExecutor:
    executor = MigrationExecutor(connection)
    executor.loader = OneByOne(connection)
    return executor


def migrate(targets: Targets) -> Apps:
    """Go there, back or forth; the models as they are then."""
    executor = step_by_step()
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


@contextmanager
def migrated(targets: Targets) -> Iterator[Apps]:
    """Inside of it `targets` is as far as it goes; afterwards everything is as it was."""
    try:
        yield migrate(targets)
    finally:
        migrate(step_by_step().loader.graph.leaf_nodes())
