"""Processes that serve no page import none: that was 14 to 18 MB of each."""

import os
import subprocess
import sys

import pytest

from broker.common.installation import CODE_DIR

WORKER = """
from console.shell.launch.worker import make_worker
make_worker(with_beat=True).app.loader.import_default_modules()
"""
SENDER = """
import django
django.setup()
from console.celery import app
app.finalize()
app.loader.import_default_modules()
import console.shell.launch.management.commands.up
"""
COLLECTOR = """
import django
django.setup()
from console.shell.collector.management.commands import collect
collect.Command.handle = lambda *_arguments, **_options: None
collect.Command().run_from_argv(["manage.py", "collect"])
"""


@pytest.mark.parametrize("program", [WORKER, SENDER, COLLECTOR], ids=["worker", "up", "collector"])
def test_no_page_is_imported_by(program, tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("BARNABAS_", "CELERY_"))}
    environment |= {"BARNABAS_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "console.settings"}
    completed = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{program}\nimport sys; print({{'console.urls', 'console.cluster.topics.views'}} & sys.modules.keys())",
        ],
        cwd=CODE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed.stdout.splitlines()[-1] == "set()"


def test_pages_of_who_has_no_provider_import_nothing_that_speaks_to_one():
    """It is 6 MB, and the web process has imported all pages with the first one that is open."""
    code = "import django, sys; django.setup(); import console.urls; print({'authlib', 'joserfc'} & sys.modules.keys())"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "console.settings"}
    command = [sys.executable, "-c", code]
    completed = subprocess.run(command, cwd=CODE_DIR, env=environment, capture_output=True, text=True, check=True)
    assert completed.stdout.splitlines()[-1] == "set()"
