"""Ninety migrations take seconds: who first wants tables in a run makes them, everybody else copies its database."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from django.db import DEFAULT_DB_ALIAS, connections

from console.launch.management.commands.migrate import Command


@contextmanager
def migrated_once(kept: Path) -> Iterator[None]:
    """`migrate` fills the console's database from the file `kept`, which it makes if it is not there.

    A further cluster's has other rows: that one is migrated.
    """
    migrate = Command.execute

    def execute(self: Command, *arguments, **options) -> None:
        if options["database"] != DEFAULT_DB_ALIAS:
            migrate(self, *arguments, **options)
            return
        connection = connections[DEFAULT_DB_ALIAS]
        connection.ensure_connection()
        with _alone(kept):
            if kept.exists():
                with closing(sqlite3.connect(kept)) as found:
                    found.backup(connection.connection)
                return
            migrate(self, *arguments, **options)
            _keep(connection.connection, kept)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Command, "execute", execute)
        yield


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
