"""The gate's workers: each test runs once in one of them, and whatever becomes of it is told."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import Progress
from tests.own_data import moved
from tests.tidy.sources import ROOT

COUNTED = """
import os
import pytest
@pytest.mark.parametrize("number", range(3))
def test_a_worker_is_noted(number, tmp_path):
    with open(os.environ["RAN"], "a") as ran:
        ran.write(f"{__name__} {number} {os.getpid()}\\n")
"""
FAILS = """
import logging
import sys
handler = logging.StreamHandler(sys.stderr)
def test_a_worker_prints_and_fails():
    print("seen", "before")
    handler.emit(logging.makeLogRecord({"msg": "logged %s", "args": ("before",)}))
    assert 1 == 2
"""
DIES = """
import os
def test_a_worker_dies_here():
    os._exit(0)
def test_a_worker_was_dead_before():
    pass
"""
ENDS_BADLY = """
import pytest
@pytest.fixture(scope="session")
def held():
    yield
    raise ValueError("at the", "end")
def test_a_worker_holds_what_ends_badly(held):
    pass
"""
WARNS = """
import warnings
warnings.warn("while read")
def test_a_worker_is_warned():
    warnings.warn("while run")
"""


def run(directory: Path, **files: str) -> str:
    """What pytest says of these files with three workers."""
    for name, text in files.items():
        (directory / f"test_{name}.py").write_text(text)
    plain = ("-c", "/dev/null", f"--rootdir={directory}", f"--basetemp={directory}/t", "-p", "no:cacheprovider", "-rA")
    command = [sys.executable, "-m", "pytest", *plain, "-p", "tests.forked", "--forks", "3", str(directory)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "RAN": str(directory / "ran")}
    for told_at_length in ("CI", "BUILD_NUMBER"):  # with either, pytest's summary repeats every message
        environment.pop(told_at_length, None)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return f"{done.stdout}{done.stderr}exit status {done.returncode}"


def outcomes(output: str) -> dict[str, str]:
    return {name: outcome for outcome, name in re.findall(r"^(PASSED|FAILED|ERROR) .*::(\w+)", output, re.MULTILINE)}


@pytest.fixture(scope="module")
def forked_run(tmp_path_factory):
    """A run in which everything happens, and what its tests wrote."""
    directory = tmp_path_factory.mktemp("forked")
    dies_first = {"a": DIES}  # so that nothing else is in the hands of its worker
    files = dies_first | {"b": COUNTED, "c": COUNTED, "d": COUNTED, "e": FAILS, "f": WARNS, "g": ENDS_BADLY}
    return run(directory, **files), (directory / "ran").read_text()


def test_every_test_of_every_file_runs_once_and_a_file_in_one_process(forked_run):
    output, ran = forked_run
    lines = [line.split() for line in ran.splitlines()]
    assert sorted((file[-1], number) for file, number, _ in lines) == [(file, n) for file in "bcd" for n in "012"]
    assert len({(file, pid) for file, _, pid in lines}) == 3
    assert output.count("PASSED") == 9 + len(["test_a_worker_is_warned", "test_a_worker_holds_what_ends_badly"])


def test_a_line_is_printed_for_each_tenth_of_the_tests():
    progress = Progress(20)
    lines = [line for _ in range(20) if (line := progress.after_one_more())]
    assert len(lines) == 10
    assert lines[0].startswith("tests   10 %  2 of 20  ")
    assert lines[-1].startswith("tests  100 %  20 of 20  ")


def test_a_failure_is_told_with_what_the_test_had_printed_and_makes_the_run_fail(forked_run):
    output, _ = forked_run
    assert outcomes(output)["test_a_worker_prints_and_fails"] == "FAILED"
    assert (output.count("seen before"), output.count("logged before")) == (1, 1)
    assert output.endswith("exit status 1")


def test_whoever_a_dead_worker_had_has_failed(forked_run):
    output, _ = forked_run
    assert outcomes(output)["test_a_worker_dies_here"] == outcomes(output)["test_a_worker_was_dead_before"] == "FAILED"
    assert output.count("The worker that had it died") == 2


def test_what_goes_wrong_at_the_end_of_a_worker_is_told(forked_run):
    output, _ = forked_run
    assert outcomes(output)["test_a_worker_holds_what_ends_badly"] == "ERROR"
    assert "ValueError: ('at the', 'end')" in output


def test_a_warning_is_told_once(forked_run):
    output, _ = forked_run
    assert (output.count("UserWarning: while read"), output.count("UserWarning: while run")) == (1, 1)


def test_a_file_that_cannot_be_read_ends_it_before_any_test(tmp_path):
    output = run(tmp_path, a="import nothing_of_this_name\n", b=COUNTED)
    assert "1 error" in output
    assert output.endswith("exit status 2")
    assert not (tmp_path / "ran").exists()


def test_settings_are_moved_wherever_they_name_the_directory():
    inner = {"NAME": "file:/old/console.sqlite3?mode=rw", "PORT": 1}
    settings = {"databases": inner, "list": ["/old/a", Path("/old/b"), "/other"], "pair": (Path("/old"), 2)}
    assert moved(settings, "/old", "/new") == {
        "databases": {"NAME": "file:/new/console.sqlite3?mode=rw", "PORT": 1},
        "list": ["/new/a", Path("/new/b"), "/other"],
        "pair": (Path("/new"), 2),
    }
    assert settings["databases"] is inner
    assert inner["NAME"].startswith("file:/new/")
