"""A connector of one's own, from the command that writes it to the worker that runs it."""

import os
import subprocess
import sys
import tomllib

import pytest

from broker.cli import connect_template
from broker.common.errors import StartupError
from broker.connect.api import SourceConnector
from broker.connect.template import KINDS, project
from tests.barnabas_cluster import await_true
from tests.broker.connect.workers import start_worker

NAMES = {"source": "my_numbers", "sink": "my_printer"}


def written(directory, kind):
    assert connect_template.main([NAMES[kind], "--kind", kind, "--directory", str(directory)]) == 0
    return directory / NAMES[kind]


def as_installed(home):
    """What pip leaves of a project for whoever looks for entry points."""
    declared = tomllib.loads((home / "pyproject.toml").read_text())["project"]
    info = home / f"{declared['name']}-{declared['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n")
    lines = [f"{name} = {place}" for name, place in declared["entry-points"]["barnabas.connect"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[barnabas.connect]", *lines]))
    return str(home)


@pytest.mark.parametrize("kind", KINDS)
def test_a_project_passes_its_own_test(kind, tmp_path):
    home = written(tmp_path, kind)
    path = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    completed = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml"],
        cwd=home, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "3 passed" in completed.stdout


def test_a_worker_runs_both_and_tells_of_their_configuration(cluster, tmp_path, monkeypatch):
    homes = [as_installed(written(tmp_path, kind)) for kind in KINDS]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*homes, os.getcwd()]))
    properties = {"bootstrap.servers": cluster.bootstrap_servers, "offset.storage.file.filename": str(tmp_path / "o")}
    worker = start_worker(tmp_path / "worker", "standalone", properties)
    try:
        await_true(worker.answers, "REST answers", 60)
        known = {item["class"] for item in worker.ask("GET", "/connector-plugins")}
        assert {"MyNumbersSourceConnector", "MyPrinterSinkConnector"} <= known
        checked = worker.ask(
            "PUT", "/connector-plugins/MyNumbersSourceConnector/config/validate",
            {"connector.class": "MyNumbersSourceConnector", "name": "n", "topic": "t", "interval.ms": "0"}, status=200,
        )  # fmt: skip
        assert checked["error_count"] == 1
        topic = "numbers-of-ones-own"
        worker.ask(
            "PUT", "/connectors/n/config",
            {"connector.class": "MyNumbersSourceConnector", "topic": topic, "interval.ms": "10"}, status=201,
        )  # fmt: skip
        printer = {"connector.class": "MyPrinterSinkConnector", "topics": topic, "prefix": "got"}
        worker.ask("PUT", "/connectors/p/config", printer, status=201)
        await_true(lambda: "got number 3\n" in worker.log.read_text(), "the third number, through both", 60)
    finally:
        assert worker.stop() == 0


@pytest.mark.parametrize("name", ["json", "class", "broker", "Upper", "a-b", "../a", "", "a" * 41])
def test_a_name_that_is_no_module_or_anothers_is_refused(name, tmp_path):
    with pytest.raises(StartupError, match="cannot be its name"):
        connect_template.main([name, "--directory", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_never_written_over(tmp_path):
    home = written(tmp_path, "source")
    (home / "README.md").write_text("mine")
    with pytest.raises(StartupError, match="File exists"):
        written(tmp_path, "source")
    assert (home / "README.md").read_text() == "mine"


def test_what_is_written_is_python_and_has_nothing_left_to_fill_in():
    for kind in KINDS:
        for place, text in project("a_b1", kind).items():
            assert "@" not in text
            if place.endswith(".py"):
                compile(text, place, "exec")
    results = {}
    exec(project("a_b1", "source")["a_b1/connector.py"], results)
    assert issubclass(results["AB1SourceConnector"], SourceConnector)
