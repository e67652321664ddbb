"""Who starts everything has the database migrated, and knows none of the pages afterwards."""

import json
import os
import sqlite3
import subprocess
import sys

import pytest

from tests.browser.conftest import ROOT

PROGRAM = """
import json, sys
import django
django.setup()
from django.db import DatabaseError
from console.shell.launch.migrating import migrate
try:
    migrate()
    said = "migrated"
except DatabaseError as error:
    said = str(error)
print(json.dumps([said, sorted({"console.urls", "console.cluster.topics.views"} & sys.modules.keys())]))
"""


@pytest.fixture
def migrated(tmp_path):
    def run() -> list:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BARNABAS_")}
        environment |= {"BARNABAS_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "console.settings"}
        completed = subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        return json.loads(completed.stdout)

    return run


def test_the_database_is_migrated_and_no_page_is_imported(migrated, tmp_path):
    assert migrated() == ["migrated", []]
    with sqlite3.connect(tmp_path / "console.sqlite3") as database:
        assert database.execute("select count(*) from processes_managedprocess").fetchone() == (0,)


def test_why_it_cannot_be_is_told(migrated, tmp_path):
    (tmp_path / "console.sqlite3").write_text("this is no database, whatever its name says, however long it is" * 20)
    error, _ = migrated()
    assert "file is not a database" in error
