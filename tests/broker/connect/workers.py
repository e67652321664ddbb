"""Connect workers as processes of their own, asked over REST."""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.warm_start import WarmProcess, started
from tests.zookeeper_server import free_ports


@dataclass
class Worker:
    process: subprocess.Popen | WarmProcess
    port: int
    log: Path

    def ask(self, method: str, path: str, body=None, status=None, headers=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **(headers or {})},
        )
        try:
            with urllib.request.urlopen(request, timeout=100) as answer:
                code, content = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            code, content = error.code, error.read()
        assert status is None or code == status, f"{method} {path}: {code} {content[:600]!r}"
        return json.loads(content) if content else None

    def answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()[-4000:]
        try:
            self.ask("GET", "/connectors", status=200)
        except OSError:
            return False
        return True

    def is_running(self, name: str, tasks: int = 1) -> bool:
        status = self.ask("GET", f"/connectors/{name}/status")
        states = [task["state"] for task in status.get("tasks", ())]
        return status.get("connector", {}).get("state") == "RUNNING" and states == ["RUNNING"] * tasks

    def state(self, name: str) -> str | None:
        """The connector's own."""
        return self.ask("GET", f"/connectors/{name}/status").get("connector", {}).get("state")

    def task_state(self, name: str, task: int = 0) -> str | None:
        """None until it has said anything."""
        return self.ask("GET", f"/connectors/{name}/tasks/{task}/status").get("state")

    def restarted(self) -> int:
        """How many connectors and tasks."""
        return self.log.read_text().count("event=restarted")

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def start_worker(directory: Path, mode: str, properties: dict[str, str], *connectors: Path) -> Worker:
    (port,) = free_ports(1)
    directory.mkdir(exist_ok=True)
    everything = {
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "offset.flush.interval.ms": "200",
        "listeners": f"http://127.0.0.1:{port}",
        **properties,
    }
    config = directory / "worker.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in everything.items()))
    log = directory / "worker.log"
    with log.open("ab") as out:
        process = started(["connect-worker", mode, str(config), *map(str, connectors)], out)
    return Worker(process, port, log)
