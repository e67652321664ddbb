"""A real Redis, a real worker and a real database that goes away, is locked, or comes back empty."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def environment():
    """With a data directory of a short name: a unix socket lies in it."""
    with tempfile.TemporaryDirectory(prefix="bo-") as directory:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BARNABAS_")}
        environment |= {"BARNABAS_DATA": directory, "DJANGO_SETTINGS_MODULE": "console.settings"}
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True)
        yield environment


@pytest.mark.long
@pytest.mark.timeout(400)
def test_what_dies_while_redis_or_the_database_is_away_is_started_again_once_and_its_end_is_told(environment):
    completed = subprocess.run(
        [sys.executable, "-m", "tests.console.processes.outage_story"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=380,
    )
    assert completed.returncode == 0, completed.stderr
    story = json.loads(completed.stdout.splitlines()[-1])
    for number, outage in enumerate(("redis_comes_back_empty", "database_moved_away", "database_locked"), start=1):
        seen = story[outage]
        assert seen["running"] == [seen["pid"]], f"{outage}: one, and the one that the row names"
        assert seen["restarts"] == number, f"{outage}: started again once"
        # A worker that goes down with Redis takes the exit status along.
        whys = ["killed by signal 9 (SIGKILL)", *(["how it ended is not known"] if number == 1 else [])]
        told_why = [item for item in seen["told"] if "started again in" in item and any(why in item for why in whys)]
        assert told_why, f"{outage}: {seen['told']}"
