"""A broker that cannot start says in one sentence what to change; its status tells whether another try may help."""

import socket
import subprocess
import sys

import pytest

from tests.barnabas_cluster import running_cluster
from tests.tidy.sources import ROOT
from tests.zookeeper_server import free_ports


def run_broker(tmp_path, **properties) -> subprocess.CompletedProcess:
    texts = {
        "broker.id": 1,
        "listeners": f"PLAINTEXT://127.0.0.1:{free_ports(1)[0]}",
        "log.dirs": tmp_path / "logs",
        "zookeeper.connection.timeout.ms": 1000,
        **{key.replace("_", "."): value for key, value in properties.items()},
    }
    config = tmp_path / "server.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in texts.items()))
    return subprocess.run(
        [sys.executable, "-m", "broker", "server", "--config", str(config)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


#: What may pass by itself, and what somebody has to change first (EX_CONFIG of sysexits.h).
NOT_NOW, MISCONFIGURED = 1, 78


def sentence_of(done: subprocess.CompletedProcess, status: int) -> str:
    """The one line that is not a log line; there is no traceback."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    spoken = [line for line in done.stderr.splitlines() if not line.startswith("timestamp=")]
    assert len(spoken) == 1, done.stderr
    return spoken[0]


def test_a_taken_port_is_named(tmp_path, zookeeper):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_broker(tmp_path, zookeeper_connect=zookeeper.connect, listeners=f"PLAINTEXT://127.0.0.1:{port}")
    assert f"cannot listen on PLAINTEXT://127.0.0.1:{port}: Address already in use" in sentence_of(done, NOT_NOW)


def test_an_absent_zookeeper_is_named(tmp_path):
    port = free_ports(1)[0]
    sentence = sentence_of(run_broker(tmp_path, zookeeper_connect=f"127.0.0.1:{port}"), NOT_NOW)
    assert f"ZooKeeper did not answer at 127.0.0.1:{port}" in sentence


def test_a_log_directory_in_use_is_named(tmp_path, zookeeper):
    with running_cluster(tmp_path / "cluster", zookeeper=zookeeper) as cluster:
        directory = cluster.broker(1).directory / "logs"
        done = run_broker(tmp_path, zookeeper_connect=cluster.zookeeper.connect, log_dirs=directory)
    assert str(directory) in sentence_of(done, NOT_NOW)


def test_another_brokers_directory_is_refused(tmp_path, zookeeper):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "meta.properties").write_text("version=0\nbroker.id=7\n")
    assert "broker.id" in sentence_of(run_broker(tmp_path, zookeeper_connect=zookeeper.connect), MISCONFIGURED)


def test_a_bad_value_is_named(tmp_path):
    assert "Invalid value x for configuration num.partitions: Not a number of type INT" in sentence_of(
        run_broker(tmp_path, zookeeper_connect="127.0.0.1:1", num_partitions="x"), MISCONFIGURED
    )


def test_a_missing_file_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "broker", "server", "--config", str(tmp_path / "none")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot read" in sentence_of(done, MISCONFIGURED)


@pytest.mark.parametrize("arguments", [["--help"], ["server", "--help"], ["zookeeper", "--help"]])
def test_help_is_there(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "broker", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "usage:" in done.stdout
