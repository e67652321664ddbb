"""A broker's process tells of itself what is the same in every run of a seed."""

import asyncio
from pathlib import Path
from random import Random
from types import SimpleNamespace

from broker.common.errors import StartupError
from tests.simulation import broker_process
from tests.simulation.broker_process import BrokerProcess
from tests.simulation.ensemble import Ensemble
from tests.simulation.history import History
from tests.simulation.network import Network
from tests.simulation.timeline import Timeline


class _Failing:
    def __init__(self, config, *_):
        self._directory = config.log_dirs[0]

    async def start(self) -> None:
        raise StartupError(f"{self._directory} cannot be opened")


def test_why_a_start_failed_is_told_without_the_directory_that_each_run_has_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(broker_process, "Broker", _Failing)

    def told_in(directory: Path) -> str:
        timeline = Timeline()
        world = SimpleNamespace(
            timeline=timeline,
            network=Network(timeline, Random(1)),
            ensemble=Ensemble(timeline),
            history=History(timeline),
            internet={},
            settings={},
        )
        process = BrokerProcess(world, 1, directory / "broker-1", Random(1))
        process.loop = SimpleNamespace(call_soon=lambda *_: None)
        asyncio.run(process._serve())
        return str(world.history.entries[-1])

    assert "start failed" in told_in(tmp_path / "one")
    assert told_in(tmp_path / "one") == told_in(tmp_path / "another")
