"""A new database is made by few migrations; one that is there already has come, or still comes, by all there were."""

import re
import sqlite3
from contextlib import closing

import pytest
from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import connections

from tests.console.migrating import migrate, step_by_step

#: Of databases from before: some steps of some rooms are still to come.
HALF_WAY = [
    *[("access", "0003_rules_and_read_only"), ("audit", "0001_initial"), ("brokers", "0008_not_loaded")],
    *[("consumers", "0001_initial"), ("departures", "0001_departures"), ("processes", "0001_initial")],
    *[("rolling", "0001_initial"), ("topics", "0003_list_columns")],
]
#: Numbers of rows, in the order in which models were declared, and what was applied when.
_OF_ITS_OWN = {"django_migrations", "django_content_type", "auth_permission", "sqlite_sequence"}


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


def test_a_database_that_was_up_to_date_is_one_that_is_made_anew(empty, tables):
    migrate(step_by_step().loader.graph.leaf_nodes())
    with open_database(empty) as database, open_database(tables) as new:
        assert schema_of(database) == schema_of(new)
        call_command(Migrate(), interactive=False, verbosity=0)
        assert (schema_of(database), rows_of(database)) == (schema_of(new), rows_of(new))
        assert permissions_of(database) == permissions_of(new)
        assert applied_in(database) == applied_in(new)


def test_one_that_was_half_way_is_brought_to_its_end_with_its_rows(empty, tables):
    before = migrate(HALF_WAY)
    before.get_model("topics", "Topic").objects.create(name="orders")
    before.get_model("audit", "AuditEvent").objects.create(actor_name="olga", action="delete", object_name="orders")
    olga = before.get_model("auth", "User").objects.create(username="olga")
    olga.groups.add(before.get_model("auth", "Group").objects.get(name="viewer"))

    call_command(Migrate(), interactive=False, verbosity=0)

    with open_database(empty) as database, open_database(tables) as new:
        assert schema_of(database) == schema_of(new)
        assert applied_in(database) == applied_in(new)
        assert database.execute("select name from topics_topic").fetchall() == [("orders",)]
        assert database.execute("select actor_name, seal <> '' from audit_auditevent").fetchall() == [("olga", 1)]
        assert database.execute(
            "select name from auth_group join auth_user_groups on auth_group.id = group_id"
        ).fetchall() == [("reader",)]


def open_database(file):
    return closing(sqlite3.connect(file))


def schema_of(database: sqlite3.Connection) -> dict[str, list[str]]:
    """Of each table what its columns and constraints are, in any order; of each index its statement."""
    found = database.execute("select name, sql from sqlite_master where sql is not null").fetchall()
    return {name: sorted(parts_of(sql)) for name, sql in found}


def parts_of(sql: str) -> list[str]:
    """Those between commas that are in one pair of brackets only."""
    parts, depth = [""], 0
    for character in sql.removesuffix(")"):
        depth += (character == "(") - (character == ")")
        if depth == 1 and character in "(,":
            parts.append("")
        else:
            parts[-1] += character
    return [re.sub(r"\s+", " ", part).strip() for part in parts]


def rows_of(database: sqlite3.Connection) -> dict[str, list]:
    names = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
    return {name: database.execute(f'select * from "{name}"').fetchall() for name in names - _OF_ITS_OWN}


def permissions_of(database: sqlite3.Connection) -> set[tuple]:
    return set(
        database.execute(
            "select app_label, model, codename from auth_permission join django_content_type"
            " on django_content_type.id = content_type_id"
        )
    )


def applied_in(database: sqlite3.Connection) -> set[tuple]:
    return set(database.execute("select app, name from django_migrations"))
