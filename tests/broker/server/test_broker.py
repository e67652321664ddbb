"""A broker's start and stop, as far as no client sees them."""

import asyncio
import socket
import threading

import pytest
from structlog.testing import capture_logs

from broker.common.errors import StartupError
from broker.config.broker import read_broker_config
from broker.log.config import LogConfig
from broker.log.directory import LOCK_FILE
from broker.log.manager import LogManager
from broker.net.listener import Listener
from broker.runtime.config_changes import ConfigKeepers
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.runtime.housekeeping import Housekeeping
from broker.runtime.replication.stray_logs import StrayLogs
from broker.server.broker import Broker
from broker.server.metrics_endpoint import MetricsEndpoint
from broker.server.registration import Registration
from broker.server.replication import Replication
from broker.zookeeper.session import ZooKeeperSession
from tests.broker.zookeeper import kafka_znodes
from tests.zookeeper_server import free_ports


@pytest.fixture
def port():
    return free_ports(1)[0]


@pytest.fixture
def make_broker(tmp_path, port):
    def make(connect: str, **settings: str) -> Broker:
        lines = {
            "broker.id": "1",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "log.dirs": str(tmp_path / "logs"),
            "zookeeper.connect": connect,
            **{key.replace("_", "."): text for key, text in settings.items()},
        }
        return Broker(read_broker_config("".join(f"{key}={text}\n" for key, text in lines.items())))

    return make


@pytest.fixture
def broker(make_broker, zookeeper, request):
    return make_broker(f"127.0.0.1:{zookeeper.port}/{request.node.name[:40]}")


def assert_nothing_is_left(port: int, directory) -> None:
    """Somebody else may have the port and the logs, and nothing goes on."""
    socket.create_server(("127.0.0.1", port)).close()
    LogManager([directory], LogConfig(), broker_id=1).shutdown()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_start_without_zookeeper_leaves_nothing_behind(make_broker, port, tmp_path):
    broker = make_broker(f"127.0.0.1:{free_ports(1)[0]}", zookeeper_connection_timeout_ms="100")
    with pytest.raises(StartupError, match="ZooKeeper did not answer"):
        await broker.start()
    assert_nothing_is_left(port, tmp_path / "logs")


async def test_a_start_that_fails_near_its_end_stops_what_it_began(broker, port, tmp_path, monkeypatch):
    async def fail(_self) -> None:
        raise StartupError("another broker has this id")

    monkeypatch.setattr(Registration, "start", fail)
    with pytest.raises(StartupError, match="another broker"):
        await broker.start()
    assert_nothing_is_left(port, tmp_path / "logs")
    await broker.stop()


def note_calls(monkeypatch, calls: list[tuple[str, str]], owner: type, *names: str) -> None:
    for name in names:
        original = getattr(owner, name)

        def noted(self, *args, _original=original, _name=name, **kwargs):
            calls.append((owner.__name__, _name))
            return _original(self, *args, **kwargs)

        monkeypatch.setattr(owner, name, noted)


async def test_the_stop_is_the_start_backwards(broker, monkeypatch):
    calls: list[tuple[str, str]] = []
    note_calls(monkeypatch, calls, LogManager, "__init__", "shutdown")
    note_calls(monkeypatch, calls, ZooKeeperSession, "connect", "close")
    for owner in (Housekeeping, Replication, ConfigKeepers, Registration, Listener, StrayLogs, ControllerRuntime):
        note_calls(monkeypatch, calls, owner, "start", "stop")
    await broker.start()
    started = [owner for owner, _ in calls]
    assert started == [
        *("LogManager", "ZooKeeperSession", "Housekeeping", "Replication", "ConfigKeepers", "Registration"),
        *("Listener", "StrayLogs", "ControllerRuntime"),
    ]
    calls.clear()
    await broker.stop()
    stopped = [owner for owner, _ in calls]
    assert stopped.pop() == "Listener", "its port, which was taken before all else"
    assert stopped == started[::-1]


async def test_whatever_a_stop_meets_the_logs_are_closed(broker, port, tmp_path, monkeypatch):
    def fail(_self) -> None:
        raise RuntimeError("a fault of ours")

    original = ZooKeeperSession.close
    for owner, name in ((ZooKeeperSession, "close"), (MetricsEndpoint, "stop"), (Housekeeping, "stop")):
        monkeypatch.setattr(owner, name, fail)
    await broker.start()
    with capture_logs() as logs:
        await broker.stop()
    assert len([line for line in logs if line["event"] == "stopping goes on"]) == 3
    assert {path.name for path in (tmp_path / "logs").iterdir()} >= {".kafka_cleanshutdown"}
    await original(broker._session)


async def test_a_stop_while_logs_are_loaded_waits_for_the_one_at_hand_only(broker, port, tmp_path, monkeypatch):
    may_go_on, begun, loads = threading.Event(), threading.Event(), []

    def load_slowly(_self, progress) -> None:
        begun.set()
        may_go_on.wait(10)
        try:
            for loaded in range(1, 4):
                loads.append(f"loaded {loaded}")
                progress(loaded, 3)
        finally:
            loads.append("load ended")

    monkeypatch.setattr(LogManager, "load_all", load_slowly)
    monkeypatch.setattr(LogManager, "close_logs", lambda _self: loads.append("closed"))
    starting = asyncio.create_task(broker.start())
    await asyncio.to_thread(begun.wait, 10)
    starting.cancel()
    while not broker._is_stopping:
        await asyncio.sleep(0)
    may_go_on.set()
    await asyncio.wait([starting])
    assert starting.cancelled()
    assert loads[:3] == ["loaded 1", "load ended", "closed"]


@pytest.mark.parametrize("is_running", [True, False])
async def test_a_broker_in_the_chroot_of_another_kafka_registers_nothing_and_claims_no_log_directory(
    make_broker, zookeeper, tmp_path, port, is_running
):
    connect = f"127.0.0.1:{zookeeper.port}/kafka-{is_running}"
    kafka = ZooKeeperSession(connect, 4_000)
    await kafka.connect(10_000)
    try:
        await kafka_znodes.write(kafka, is_running=is_running)
        with pytest.raises(StartupError, match="holds the cluster of another Kafka") as refused:
            await make_broker(connect).start()
        assert refused.value.exit_status == 78
        assert await kafka.children("/brokers/ids") == (["11"] if is_running else [])
        assert await kafka.exists("/barnabas") is None
        assert [path.name for path in (tmp_path / "logs").iterdir()] == [LOCK_FILE]
    finally:
        await kafka.close()
    assert_nothing_is_left(port, tmp_path / "logs")


async def test_a_stopped_kafka_that_was_taken_over_needs_no_word_at_the_next_start(make_broker, zookeeper):
    connect = f"127.0.0.1:{zookeeper.port}/taken-over"
    kafka = ZooKeeperSession(connect, 4_000)
    await kafka.connect(10_000)
    await kafka_znodes.write(kafka, is_running=False)
    await kafka.close()
    for settings in ({"kafka_cluster_join": "true"}, {}):
        broker = make_broker(connect, **settings)
        await broker.start()
        assert broker.services.cluster_id == "ERd26dhWQDaH-fj551lXuQ"
        await broker.stop()
