"""An ensemble in memory whose members this console runs, as far as its rows know."""

import pytest

from console.cluster.zookeeper.ensemble import Server
from console.cluster.zookeeper.servers import spec_of
from console.processes.registry import add_process
from tests.fakes.zookeeper import FakeZooKeeper


def server(number: int) -> Server:
    return Server(number, f"zookeeper-{number}", "127.0.0.1", 2180 + number, 2887 + number, 3887 + number)


@pytest.fixture
def managed(db, settings, tmp_path, ensemble, monkeypatch):
    """managed(count): that many members, all serving, and one broker; the fake itself."""
    settings.DATA_DIR, settings.LOG_DIR, settings.RUN_DIR = tmp_path, tmp_path / "logs", tmp_path / "run"
    settings.ZOOKEEPER_SECRET_FILE = tmp_path / "secrets" / "zookeeper-super"
    monkeypatch.setattr("console.cluster.zookeeper.servers.port_answers", lambda _port: False)
    monkeypatch.setattr("console.processes.tasks.enqueue", lambda *_: None)

    def make(count: int) -> FakeZooKeeper:
        servers = [server(number) for number in range(1, count + 1)]
        ensemble.__init__(lambda: 0, [member.line for member in servers])
        for member in servers:
            ensemble.serve((member.host, member.client_port), "leader" if member.number == 1 else "follower")
            spec = {**spec_of(member, []), "directory": str(tmp_path / "kept" / member.process)}
            add_process("zookeeper", "zookeeper" if member.number == 1 else member.process, spec)
        directory = tmp_path / "broker-1"
        connect = ",".join(member.address for member in servers)
        broker = {"broker_id": 1, "port": 9092, "directory": str(directory), "log_dirs": [str(directory / "data")]}
        add_process("broker", "broker-1", {**broker, "zookeeper": connect})
        return ensemble

    return make
