"""A probe as a process beside a test's cluster, and what it says of it."""

import contextlib
import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.barnabas_cluster import await_true
from tests.warm_start import WarmProcess, started
from tests.zookeeper_server import free_ports


@dataclass
class RunningProbe:
    port: int
    process: subprocess.Popen | WarmProcess
    log: Path

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return answer.read().decode()

    def status(self) -> dict:
        return json.loads(self.get("/status"))

    def blamed(self) -> dict[int, dict]:
        brokers = self.status()["brokers"]
        return {int(broker): status for broker, status in brokers.items() if "blamed_at_ms" in status}

    def ever_blamed(self) -> list[int]:
        """By its log, in their order."""
        lines = [line for line in self.log.read_text().splitlines() if 'event="a broker does not answer"' in line]
        return [int(re.search(r"broker=(\d+)", line)[1]) for line in lines]

    def total(self, name: str, part: str = "whole") -> int:
        return self.status()["total"].get(part, {}).get(name, 0)

    def leads(self) -> dict[int, int]:
        return {int(broker): status["leads"] for broker, status in self.status()["brokers"].items()}

    def await_reading(self, brokers: int) -> None:
        """Every broker leads, and of each partition a record comes back from now on."""

        def all_lead() -> bool:
            leads = self.leads()
            return len(leads) == brokers and all(leads.values())

        await_true(all_lead, f"{brokers} brokers lead a partition each; the log:\n{self.log.read_text()[-2000:]}")
        for part in (f"partition/{partition}" for partition in self.status()["partitions"]):
            before = self.total("read", part)
            await_true(lambda part=part, before=before: self.total("read", part) > before, f"{part} is read")

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(20)


@contextlib.contextmanager
def running_probe(directory: Path, bootstrap_servers: str, **settings: object) -> Iterator[RunningProbe]:
    directory.mkdir(parents=True, exist_ok=True)
    (port,) = free_ports(1)
    config, log = directory / "probe.properties", directory / "probe.log"
    pairs = {"bootstrap.servers": bootstrap_servers, "listener": f"127.0.0.1:{port}", **settings}
    config.write_text("".join(f"{key}={value}\n" for key, value in pairs.items()))
    with log.open("ab") as out:
        process = started(["probe", "--config", str(config)], out)
    probe = RunningProbe(port, process, log)

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            return bool(probe.status())
        except OSError:
            return False

    try:
        await_true(answers, "the probe answers")
        yield probe
    finally:
        process.kill()
        process.wait()
