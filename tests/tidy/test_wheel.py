"""What is in the repository for the product is in the wheel, and what is in the wheel runs from anywhere."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.barnabas_cluster import await_true
from tests.tidy.sources import ROOT
from tests.zookeeper_server import free_ports

_FILE_LIST = """
import json
from setuptools import Distribution
distribution = Distribution({"script_name": "setup.py"})
distribution.parse_config_files()
command = distribution.get_command_obj("build_py")
command.ensure_finalized()
print(json.dumps([command.build_lib, command.get_outputs(include_bytecode=False)]))
"""
#: Folders beside the packages, and where they lie in a wheel.
_ASSETS = {"templates": "console/_assets/templates", "static": "console/_assets/static"}
#: Where files to be copied lie below the prefix of an installation.
_CONFIG = "share/barnabas/config"
_UP_S, _DOWN_S = 180, 90


def files_wanted() -> set[str]:
    """Every file of the product, by its path in a wheel."""
    return {
        f"{_ASSETS.get(top, top)}/{path.relative_to(ROOT / top)}"
        for top in ("broker", "console", "templates", "static")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def config_files() -> list[Path]:
    return [path for path in (ROOT / "config").rglob("*") if path.is_file()]


def test_every_module_template_static_file_and_migration_goes_into_the_wheel():
    done = subprocess.run([sys.executable, "-c", _FILE_LIST], cwd=ROOT, capture_output=True, text=True, check=True)
    built_in, outputs = json.loads(done.stdout)
    built = {str(Path(output).relative_to(built_in)) for output in outputs}
    assert files_wanted() - built == set()
    assert built - files_wanted() == set()
    assert {part.split("/")[0] for part in built} == {"broker", "console"}


def test_every_file_to_be_copied_goes_into_the_wheel():
    copied = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    patterns = [pattern for place, item in copied.items() if place.startswith(_CONFIG) for pattern in item]
    paths = {path for pattern in patterns for path in ROOT.glob(pattern)}
    assert paths == set(config_files())


def test_every_entry_point_leads_to_a_function():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for module, function in (target.split(":") for target in project["scripts"].values()):
        path = ROOT / f"{module.replace('.', '/')}.py"
        assert re.search(rf"^def {function}\b", path.read_text(), re.MULTILINE), f"{module}:{function}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built without a network, from a copy: what setuptools leaves beside the sources would go into the next one."""
    copy, dist = tmp_path_factory.mktemp("copy") / "barnabas", tmp_path_factory.mktemp("dist")
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in ("broker", "config", "console", "templates", "static"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip("wheel", "--no-build-isolation", "--wheel-dir", dist, copy)
    (built,) = dist.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder of its own with the wheel and nothing else; what it needs is found where it is found now."""
    site = tmp_path_factory.mktemp("site")
    pip("install", "--target", site, wheel)
    return site


def pip(command: str, *arguments: str | Path) -> None:
    options = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", command, *options, *arguments], check=True, timeout=300)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_built_wheel_holds_the_product_and_its_commands(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (entry_points,) = (archive.read(name).decode() for name in names if name.endswith("entry_points.txt"))
    data = {name.partition(".data/data/")[2] for name in names} - {""}
    assert data == {f"{_CONFIG}/{path.relative_to(ROOT / 'config')}" for path in config_files()}
    assert {name for name in names if not re.search(r"\.(dist-info|data)/", name)} == files_wanted()
    assert "barnabas = broker.barnabas:main" in entry_points.splitlines()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_what_is_installed_starts_from_any_directory_and_stops(installed, tmp_path):
    """A cluster of one broker, the console and its page; a folder named as a package of ours lies where it starts."""
    (tmp_path / "console").mkdir()
    console, zookeeper, broker = free_ports(3)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("BARNABAS_", "DJANGO_"))}
    environment |= {
        "PYTHONPATH": str(installed),
        "BARNABAS_DATA": "kept/here",
        "BARNABAS_CONSOLE_PORT": str(console),
        "BARNABAS_BROKERS": "1",
        "BARNABAS_BROKER_PORT": str(broker),
        "BARNABAS_ZOOKEEPER_PORT": str(zookeeper),
        "BARNABAS_DEMO": "0",
        "BARNABAS_CONNECT_PORT": "0",
        "BARNABAS_REGISTRY_PORT": "0",
    }
    barnabas, up_log = installed / "bin" / "barnabas", tmp_path / "up.log"
    with up_log.open("w") as log:
        up = subprocess.Popen([barnabas, "up"], cwd=tmp_path, env=environment, stdout=log, stderr=log)
    try:
        await_true(lambda: "bootstrap servers" in up_log.read_text() or up.poll() is not None, "up", _UP_S)
        assert up.poll() is None, up_log.read_text()
        assert "✗" not in up_log.read_text(), up_log.read_text()
        assert "data in kept/here" in up_log.read_text()
        for path, words in (("login/", b"<form"), ("static/css/tokens.css", b"--")):
            with urllib.request.urlopen(f"http://127.0.0.1:{console}/{path}", timeout=20) as answer:
                assert words in answer.read()
        down = subprocess.run([barnabas, "down"], cwd=tmp_path, env=environment, timeout=_DOWN_S, check=False)
        assert down.returncode == 0
        assert up.wait(_DOWN_S) == 0
    finally:
        if up.poll() is None:
            up.send_signal(signal.SIGTERM)
            up.wait(_DOWN_S)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["console", "kept", "up.log"]
