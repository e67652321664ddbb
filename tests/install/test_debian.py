"""A fresh Debian 13 with Python, make and git, and no compiler: the README's first command, and the wheel."""

import contextlib
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.barnabas_cluster import await_true
from tests.install.debian import HOME, USER, Debian, needs_debootstrap, running_debian
from tests.tidy.sources import ROOT
from tests.tidy.test_wheel import wheel  # noqa: F401
from tests.zookeeper_server import free_ports

_INSTALL_S, _UP_S, _DOWN_S, _CARRY_S = 1_200, 300, 120, 90

pytestmark = [pytest.mark.long, needs_debootstrap, pytest.mark.timeout(3_000)]


@pytest.fixture(scope="module")
def debian(tmp_path_factory) -> Iterator[Debian]:
    with running_debian(tmp_path_factory.mktemp("debian")) as system:
        yield system


def test_the_first_command_works_on_a_debian_without_a_compiler(debian, tmp_path):
    assert debian.run("command -v gcc cc || echo none").strip() == "none"
    assert debian.run("python3 --version").startswith("Python 3.13.")
    clone(debian)
    with up(debian, "cd barnabas && exec make up", tmp_path, demo=True) as settings:
        carries_records(debian, f"{HOME}/barnabas/bin", settings)
        debian.run("cd barnabas && make down", _DOWN_S, **settings)
    assert debian.run("cd barnabas && make setup") == ""  # installed once


def test_the_wheel_works_on_a_debian_without_a_compiler(debian, wheel, tmp_path):  # noqa: F811
    shutil.copy(wheel, debian.home)
    debian.run(f"python3 -m venv env && env/bin/pip install --quiet './{wheel.name}[all]'", _INSTALL_S)
    with up(debian, "exec env/bin/barnabas up", tmp_path) as settings:
        carries_records(debian, f"{HOME}/env/bin", settings)
        debian.run("env/bin/barnabas down", _DOWN_S, **settings)


def clone(debian: Debian) -> None:
    """Clone as anybody would, and lay over it what is not committed here yet."""
    bare = debian.root / "srv" / "barnabas.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", "--depth", "1", f"file://{ROOT}", bare], check=True)
    subprocess.run(["chown", "-R", USER, bare], check=True)  # git clones nothing of another user's
    debian.run("git clone --quiet /srv/barnabas.git barnabas", 120)
    changed = ["git", "-C", ROOT, "ls-files", "--modified", "--others", "--exclude-standard"]
    for name in subprocess.run(changed, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (debian.home / "barnabas" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, debian.home / "barnabas" / name)


@contextlib.contextmanager
def up(debian: Debian, script: str, directory: Path, *, demo: bool = False) -> Iterator[Mapping[str, str]]:
    """Yield the environment in which it runs. Whoever enters has to stop it; nothing of it is left then."""
    console, zookeeper, broker, connect, registry = free_ports(5)
    settings = {
        "BARNABAS_CONSOLE_PORT": str(console),
        "BARNABAS_BROKERS": "1",
        "BARNABAS_BROKER_PORT": str(broker),
        "BARNABAS_ZOOKEEPER_PORT": str(zookeeper),
        "BARNABAS_CONNECT_PORT": str(connect),
        "BARNABAS_REGISTRY_PORT": str(registry),
        "BARNABAS_DEMO": str(int(demo)),
        "BARNABAS_PROBE": "0",
    }
    output = directory / "up.log"
    with output.open("w") as log:
        process = subprocess.Popen(debian.command(script, settings), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    await_true(
        lambda: "bootstrap servers" in output.read_text() or process.poll() is not None, "up", _INSTALL_S + _UP_S
    )
    assert process.poll() is None, output.read_text()
    assert "✗" not in output.read_text(), output.read_text()
    with urllib.request.urlopen(f"http://127.0.0.1:{console}/login/", timeout=30) as page:
        assert b"<form" in page.read()
    yield settings
    assert process.wait(_DOWN_S) == 0, output.read_text()
    assert debian.processes() == []


def carries_records(debian: Debian, commands: str, settings: Mapping[str, str]) -> None:
    server = f"--bootstrap-server 127.0.0.1:{settings['BARNABAS_BROKER_PORT']}"
    debian.run(f"printf 'one\\ntwo\\nthree\\n' | {commands}/kafka-console-producer {server} --topic first", _CARRY_S)
    consumer = f"{commands}/kafka-console-consumer {server} --topic first --from-beginning --max-messages 3"
    assert debian.run(f"{consumer} 2>/dev/null", _CARRY_S).split() == ["one", "two", "three"]
