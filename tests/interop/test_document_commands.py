"""The shell blocks of README and docs/, typed as they stand: against a running cluster, in a scratch directory.

Only what stands for a value is replaced: addresses, FILE, DIR, JOB, the names of topics, groups and examples.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.barnabas_cluster import Cluster, await_true
from tests.documentation.typed import LONG_ON_CLUSTER, SHORT_ON_CLUSTER, DocumentCommand
from tests.tidy.sources import ROOT
from tests.zookeeper_server import free_ports

_ENDS_S, _SHOWS_S = 60, 60
_BARNABAS = "import sys; from broker.barnabas import main; sys.exit(main())"
_OPTIONAL = re.compile(r" '\[--topic' 'T]' '\[--group' 'G]' '\[--count' 'N]'")


class Shell:
    """A directory with bin/ and config/ as an installed Barnabas has them, and its commands on the PATH."""

    def __init__(self, home: Path, cluster: Cluster, name: str):
        self.home, self.cluster, self.name = home, cluster, name
        (home / "bin").symlink_to(ROOT / "bin")
        shutil.copytree(ROOT / "config", home / "config")
        (home / "data" / "secrets").mkdir(parents=True)
        (home / "data" / "secrets" / "client.properties").touch()
        commands = home / "commands"
        commands.mkdir()
        self._script(commands / "python", f'exec {sys.executable} "$@"')
        self._script(commands / "barnabas", f'exec {sys.executable} -c "{_BARNABAS}" "$@"')
        (home / ".venv" / "bin").mkdir(parents=True)
        self._script(home / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
        self._environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("BARNABAS_")},
            "PATH": f"{commands}:{home / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "BARNABAS_DATA": str(home / "data"),
        }

    def type(self, command: DocumentCommand) -> str:
        """Return what it printed; a command that stays is left once that has `shows` in it."""
        line = self._filled(command.line)
        out = self.home / "out"
        with out.open("w") as file:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {line}"],
                cwd=self.home,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
            )
        try:
            if command.stays:
                assert process.stdin
                await_true(
                    lambda: process.poll() is not None or re.search(command.shows, out.read_text()),
                    f"{line} shows {command.shows}",
                    _SHOWS_S,
                )
                assert process.poll() is None, out.read_text()
                process.send_signal(signal.SIGINT)
                process.wait(_ENDS_S)
            else:
                process.communicate(command.stdin, timeout=_ENDS_S)
                assert process.returncode == 0, f"{line}:\n{out.read_text()}"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return out.read_text()

    def _filled(self, line: str) -> str:
        zookeeper = self.cluster.zookeeper.connect
        values = {
            "--zookeeper HOST:PORT": f"--zookeeper {zookeeper}",
            "HOST:PORT": self.cluster.bootstrap_servers,
            "localhost:9092": self.cluster.bootstrap_servers,
            "127.0.0.1:9092": self.cluster.bootstrap_servers,
            "localhost:2181": zookeeper,
            "billing": f"billing-{self.name}",
            "examples.NAME": f"examples.commit_each_record --topic {self.name} --group billing-{self.name} --count 1",
            "--topic T": f"--topic {self.name}",
            "--topic orders": f"--topic {self.name}",
            "--entity-name orders": f"--entity-name {self.name}",
            "[password=…]": "[password=a-long-password]",
            "FILE": str(self._segment()),
            "DIR": "zookeeper",
            "JOB": "dedupe",
        }
        line = _OPTIONAL.sub("", line)
        for placeholder, value in values.items():
            line = line.replace(placeholder, value)
        return line

    def _segment(self) -> Path:
        """Return a segment of the topic that holds a record; any path while there is none."""
        logs = (path for broker in self.cluster.brokers for path in broker.directory.rglob(f"{self.name}-*/*.log"))
        return next((path for path in logs if path.stat().st_size), Path("none.log"))

    def _script(self, path: Path, line: str) -> None:
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def set(self, name: str, **values: str) -> None:
        """Set keys of config/`name`, with `_` for each dot: ports that are free here, directories below `home`."""
        path = self.home / "config" / name
        text = path.read_text()
        for key, value in values.items():
            key = key.replace("_", ".")
            text = re.sub(rf"(?m)^#?{re.escape(key)}=.*\n", "", text) + f"\n{key}={value}\n"
        path.write_text(text)


@pytest.fixture(scope="module")
def shell(cluster, tmp_path_factory):
    home = tmp_path_factory.mktemp("documents")
    made = Shell(home, cluster, f"t-{home.name.replace('_', '-')}")
    broker, rest, distributed, registry, zookeeper = free_ports(5)
    bootstrap = {"bootstrap_servers": cluster.bootstrap_servers}
    server = {
        "broker_id": "77",
        "listeners": f"PLAINTEXT://127.0.0.1:{broker}",
        "log_dirs": str(home / "logs"),
        "zookeeper_connect": cluster.zookeeper.connect,
    }
    made.set("server.properties", **server)
    shutil.copy(home / "config" / "server.properties", home / "server.properties")
    made.set("zookeeper.properties", clientPort=str(zookeeper), dataDir=str(home / "zookeeper-data"))
    made.set("connect-standalone.properties", listeners=f"http://127.0.0.1:{rest}", **bootstrap)
    made.set("connect-standalone.properties", offset_storage_file_filename=str(home / "connect.offsets"))
    made.set("connect-distributed.properties", listeners=f"http://127.0.0.1:{distributed}", **bootstrap)
    made.set("schema-registry.properties", listeners=f"http://127.0.0.1:{registry}")
    made.set("schema-registry.properties", kafkastore_bootstrap_servers=cluster.bootstrap_servers)
    (home / "test.txt").write_text("a line\n")
    return made


def test_the_first_commands_of_the_readme_do_what_they_say(shell):
    for command in SHORT_ON_CLUSTER:
        assert re.search(command.shows, shell.type(command), re.MULTILINE), command.line


@pytest.mark.long
def test_every_other_command_of_the_documents_does_what_it_says(shell):
    shell.name = f"{shell.name}-long"
    wrong = {}
    for command in LONG_ON_CLUSTER:
        printed = shell.type(command)
        if not re.search(command.shows, printed, re.MULTILINE):
            wrong[command.line] = printed
    assert wrong == {}
