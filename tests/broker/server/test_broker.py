"""Ends of a broker's life that no client sees."""

import asyncio
import threading

import pytest

from broker.config.broker import read_broker_config
from broker.server.broker import Broker
from tests.zookeeper_server import free_ports


class SlowLogs:
    """Logs that load one by one, when told."""

    def __init__(self):
        self.may_go_on = threading.Event()
        self.begun = threading.Event()
        self.told: list[str] = []

    def load_all(self, progress) -> None:
        self.begun.set()
        self.may_go_on.wait(10)
        try:
            for loaded in range(1, 4):
                self.told.append(f"loaded {loaded}")
                progress(loaded, 3)
        finally:
            self.told.append("load ended")

    def close_logs(self) -> None:
        """None is open."""

    def shutdown(self) -> None:
        self.told.append("shut down")


@pytest.fixture
def broker():
    return Broker(read_broker_config(f"broker.id=1\nzookeeper.connect=127.0.0.1:{free_ports(1)[0]}\n"))


async def test_a_stop_while_logs_are_loaded_waits_for_the_one_at_hand_only(broker):
    broker._logs = logs = SlowLogs()
    loading = asyncio.create_task(broker._load_logs())
    await asyncio.to_thread(logs.begun.wait, 10)
    loading.cancel()
    stopping = asyncio.create_task(broker.stop())
    await asyncio.wait([loading])
    await asyncio.to_thread(logs.may_go_on.set)
    await asyncio.wait_for(stopping, 10)
    assert logs.told == ["loaded 1", "load ended", "shut down"]


async def test_whatever_a_stop_meets_the_logs_are_closed(broker, monkeypatch):
    async def fail() -> None:
        raise RuntimeError("a fault of ours")

    broker._logs = logs = SlowLogs()
    monkeypatch.setattr(broker, "_close_clients", fail)
    monkeypatch.setattr(broker._session, "close", fail)
    await broker.stop()
    assert logs.told == ["shut down"]
