"""Making tables takes a second: who first wants tables in a run makes them, everybody else copies its database.

So does a test that commits for real, at its end: Django would empty each table and write every model's rights anew.
"""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from django.core.management.commands.flush import Command as Flush
from django.db import DEFAULT_DB_ALIAS, connections

from console.shell.launch.management.commands.migrate import Command as Migrate


@contextmanager
def migrated_once(kept: Path) -> Iterator[None]:
    """`migrate` and `flush` fill the console's database from the file `kept`, which `migrate` makes if it is not there.

    A further cluster's has other rows: that one is migrated, and flushed.
    """
    migrate, flush = Migrate.execute, Flush.handle

    def execute(self: Migrate, *arguments, **options) -> None:
        if options["database"] != DEFAULT_DB_ALIAS:
            migrate(self, *arguments, **options)
            return
        with _alone(kept):
            if kept.exists():
                _fill(kept)
                return
            migrate(self, *arguments, **options)
            _keep(connections[DEFAULT_DB_ALIAS].connection, kept)

    def handle(self: Flush, **options) -> None:
        if options["database"] == DEFAULT_DB_ALIAS:
            _fill(kept)
        else:
            flush(self, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Migrate, "execute", execute)
        patch.setattr(Flush, "handle", handle)
        yield


def _fill(kept: Path) -> None:
    connection = connections[DEFAULT_DB_ALIAS]
    connection.ensure_connection()
    with closing(sqlite3.connect(kept)) as opened:
        opened.backup(connection.connection)


def _keep(database: sqlite3.Connection, kept: Path) -> None:
    """Under its name only once it is whole."""
    made = kept.with_suffix(".new")
    with closing(sqlite3.connect(made)) as copy:
        database.backup(copy)
    made.rename(kept)


@contextmanager
def _alone(kept: Path) -> Iterator[None]:
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
