"""Clusters as schemas of one PostgreSQL: made, filled by their collectors, and shown each by its own pages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres_server import USER, running_postgres

ROOT = Path(__file__).parents[4]
CLUSTERS = '[clusters.west-1]\nbootstrap = "west:9092"\n[clusters.east]\nbootstrap = "east:9092"\ncolour = "red"\n'


@pytest.mark.long
@pytest.mark.timeout(700)
def test_each_cluster_has_a_schema_and_pages_of_its_own(tmp_path):
    (tmp_path / "clusters.toml").write_text(CLUSTERS)
    (tmp_path / "clusters.toml").chmod(0o600)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("BARNABAS_", "DJANGO_"))}
    with running_postgres("fleet") as address:
        environment |= {
            "BARNABAS_DATA": str(tmp_path),
            "BARNABAS_DATABASE_URL": f"postgres://{USER}@{address}",
            "BARNABAS_REDIS_URL": "memory://",
            "BARNABAS_ALLOWED_HOSTS": "testserver",
            "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
        }
        command = [sys.executable, "-m", "tests.console.shell.fleet.of_postgres"]
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert ran.stdout.endswith("all is well\n"), ran.stderr[-4_000:] + ran.stdout
