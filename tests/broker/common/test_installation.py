"""Where things are kept, and how another process of ours is started, in a checkout and out of a wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from broker.common import installation
from broker.common.installation import CODE_DIR, default_data_dir, jobs_dir, module_command, with_code_path


@pytest.fixture
def installed(monkeypatch):
    """As out of a wheel."""
    monkeypatch.setattr(installation, "IS_CHECKOUT", False)


def test_a_checkout_keeps_its_data_beside_the_code_wherever_one_stands(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert default_data_dir({"XDG_DATA_HOME": "/elsewhere"}) == CODE_DIR / "data"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, Path.home() / ".local" / "share" / "barnabas"),
        ({"XDG_DATA_HOME": "/big/share"}, Path("/big/share/barnabas")),
        ({"XDG_DATA_HOME": "relative"}, Path.home() / ".local" / "share" / "barnabas"),
    ],
)
def test_what_is_installed_keeps_its_data_where_a_person_s_data_is(environment, expected):
    assert default_data_dir(environment) == expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"BARNABAS_JOBS": "/jobs", "BARNABAS_DATA": "/data"}, "/jobs"),
        ({"BARNABAS_DATA": "/data"}, "/data/jobs"),
        ({"BARNABAS_DATA": "", "BARNABAS_JOBS": ""}, f"{CODE_DIR}/data/jobs"),
    ],
)
def test_jobs_of_one_s_own_lie_in_the_data_unless_a_place_is_named(environment, expected):
    assert jobs_dir(environment) == Path(expected)


def test_another_process_runs_this_code_whatever_lies_where_it_starts(tmp_path):
    for package in ("broker", "console"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise SystemExit('a stranger')")
    environment = with_code_path({"PATH": os.environ["PATH"]})
    command = module_command("broker", "--help")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("usage: python -m broker"), done.stderr


def test_the_code_is_named_once_and_before_what_was_there():
    once = with_code_path({"PYTHONPATH": "/other"})
    assert once["PYTHONPATH"] == f"{CODE_DIR}{os.pathsep}/other"
    assert with_code_path(once) == once


@pytest.mark.usefixtures("installed")
def test_installed_code_is_found_without_being_named():
    """Its folder before Python's own would let any package there stand in for a module of the standard library."""
    assert "PYTHONPATH" not in with_code_path({"PATH": sys.prefix})
