"""Processes that are started with the files that Kafka ships, but for addresses and directories."""

import contextlib
import sys
import urllib.request
from pathlib import Path

import pytest

from broker.config.properties import properties_text
from tests import shipped_files as shipped
from tests.barnabas_cluster import await_true
from tests.warm_start import start
from tests.zookeeper_server import free_ports


@contextlib.contextmanager
def running(directory: Path, settings: dict[str, str], *words: str):
    """Run a process of ours with a file of these settings, in the place of FILE; yields its log."""
    file, log = directory / "shipped.properties", directory / "out.log"
    file.write_text(properties_text(settings))
    command = [sys.executable, "-m", "broker", *(str(file) if word == "FILE" else word for word in words)]
    with log.open("wb") as out:
        process = start(command, out)
    try:
        yield log
        assert process.poll() is None, log.read_text()[-2000:]
    finally:
        process.terminate()
        process.wait(30)


def test_a_broker_starts_with_the_newest_file_and_a_zookeeper(zookeeper, name, tmp_path):
    (port,) = free_ports(1)
    settings = shipped.KRAFT_SERVERS["4.0 to 4.4, combined"] | {
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://:9093",
        "advertised.listeners": f"PLAINTEXT://localhost:{port},CONTROLLER://localhost:9093",
        "log.dirs": str(tmp_path / "logs"),
    }
    added = ("--override", f"zookeeper.connect={zookeeper.connect}/{name}")
    with running(tmp_path, settings, "server", "--config", "FILE", *added) as log:
        await_true(lambda: "[KafkaServer id=1] started" in log.read_text(), "the broker serves", why_not=log.read_text)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["standalone", "distributed"])
def test_a_worker_starts_with_its_file(cluster, tmp_path, mode):
    files = shipped.STANDALONE_WORKERS if mode == "standalone" else shipped.DISTRIBUTED_WORKERS
    (port,) = free_ports(1)
    settings = files["2.8 to 4.4"] | {
        "bootstrap.servers": cluster.bootstrap_servers,
        "listeners": f"http://127.0.0.1:{port}",
        **({"offset.storage.file.filename": str(tmp_path / "offsets")} if mode == "standalone" else {}),
    }

    def answers() -> bool:
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/connectors", timeout=10).status == 200
        return False

    with running(tmp_path, settings, "connect-worker", mode, "FILE") as log:
        await_true(answers, "the worker answers", why_not=log.read_text)


@pytest.mark.long
def test_a_mirror_starts_with_its_file(cluster, tmp_path):
    here = {f"{alias}.bootstrap.servers": cluster.bootstrap_servers for alias in "AB"}
    with running(tmp_path, shipped.MIRRORS["2.8 to 4.4"] | here, "mirror-maker", "FILE") as log:
        await_true(lambda: "mirror started" in log.read_text(), "the mirror runs", why_not=log.read_text)
