"""Rows that were kept under an app's former label are kept under the one it has."""

import sqlite3
from contextlib import closing

import pytest
from django.core.management import call_command
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections

from console.automation.decommission.models import Decommission
from console.shell.launch.renamed_labels import rename_labels

FORMER = {"departures": "decommission", "rolling": "rolling_restart", "staged": "staged_moves"}


@pytest.fixture
def empty(tables, tmp_path, django_db_blocker):
    """A file without tables is the console's database."""
    file = tmp_path / "console.sqlite3"
    file.touch()
    kept = connections["default"]
    with django_db_blocker.unblock():
        connections["default"] = connections.create_connection("default")
        connections["default"].settings_dict = kept.settings_dict | {"NAME": str(file), "OPTIONS": {}}
        yield file
        connections["default"].close()
        connections["default"] = kept


def test_a_database_with_former_labels_keeps_its_rows_and_is_one_that_is_made_anew(empty):
    call_command(DjangoMigrate(), interactive=False, verbosity=0)
    Decommission.objects.create(name="broker-3", broker_id=3, actor_name="olga", held=7, left=7)
    with closing(sqlite3.connect(empty)) as database:
        made_anew = tables_of(database), *labels_of(database)
        give_former_labels(database)
        assert "departures_decommission" in tables_of(database)

    rename_labels("default")
    rename_labels("default")
    call_command(DjangoMigrate(), interactive=False, verbosity=0)

    with closing(sqlite3.connect(empty)) as database:
        assert database.execute("select name from decommission_decommission").fetchall() == [("broker-3",)]
        assert (tables_of(database), *labels_of(database)) == made_anew


def test_an_empty_database_stays_empty(empty):
    rename_labels("default")
    with closing(sqlite3.connect(empty)) as database:
        assert tables_of(database) == set()


def give_former_labels(database: sqlite3.Connection) -> None:
    for former, label in FORMER.items():
        for table in tables_of(database):
            if table.startswith(f"{label}_"):
                database.execute(f"alter table {table} rename to {former}{table.removeprefix(label)}")
        database.execute("update django_migrations set app = ? where app = ?", [former, label])
        database.execute("update django_content_type set app_label = ? where app_label = ?", [former, label])
    database.commit()


def tables_of(database: sqlite3.Connection) -> set[str]:
    return {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}


def labels_of(database: sqlite3.Connection) -> tuple[set, set]:
    applied = set(database.execute("select app, name from django_migrations"))
    return applied, set(database.execute("select app_label, model from django_content_type"))
