"""Schema registries for tests: processes of their own, on free ports, that can be killed, paused and started again."""

import contextlib
import json
import os
import signal
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.barnabas_cluster import await_true
from tests.warm_start import WarmProcess, started
from tests.zookeeper_server import free_ports


class Answer(NamedTuple):
    status: int
    body: Any


@dataclass
class RegistryProcess:
    port: int
    directory: Path
    properties: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen | WarmProcess | None = None
    #: Its authority's certificate, if it speaks https.
    authority: str = ""

    @property
    def url(self) -> str:
        return f"{'https' if self.authority else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        file = self.directory / "schema-registry.properties"
        properties = {"listeners": self.url, **self.properties}
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        file.chmod(0o600)
        with (self.directory / "registry.log").open("ab") as log:
            self.process = started(["registry", "--config", str(file)], log)

    def await_serving(self) -> None:
        def serves() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log()
            with contextlib.suppress(OSError):
                return self.ask("GET", "/").status in (200, 401)
            return False

        await_true(serves, "the registry serves", 90)

    def log(self) -> str:
        return (self.directory / "registry.log").read_text()

    def ask(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Errors are answers, too; OSError if there is none."""
        request = urllib.request.Request(self.url + path, method=method, headers=dict(headers or {}))
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        try:
            trusted = ssl.create_default_context(cadata=self.authority) if self.authority else None
            with urllib.request.urlopen(request, timeout=90, context=trusted) as response:
                return Answer(response.status, _body(response.read()))
        except urllib.error.HTTPError as error:
            return Answer(error.code, _body(error.read()))

    def signal(self, number: int) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> int:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


def _body(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")


@contextlib.contextmanager
def running_registries(
    directory: Path, bootstrap_servers: str, count: int = 1, zookeeper: str = "", authority: str = "", **properties: str
) -> Iterator[list[RegistryProcess]]:
    """They serve; all have ended afterwards. Underscores of `properties` are dots."""
    config = {
        "kafkastore.bootstrap.servers": bootstrap_servers,
        "kafkastore.topic.replication.factor": "1",
        **({"kafkastore.connection.url": zookeeper} if zookeeper else {}),
        **{name.replace("_", "."): value for name, value in properties.items()},
    }
    processes = [
        RegistryProcess(port, directory / f"registry-{at}", dict(config), authority=authority)
        for at, port in enumerate(free_ports(count), 1)
    ]
    try:
        for increment in processes:
            increment.start()
        for item in processes:
            item.await_serving()
        yield processes
    finally:
        for item in processes:
            item.kill()
