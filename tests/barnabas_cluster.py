"""A real cluster for tests: ZooKeeper and brokers as processes, on free ports, in a directory of the test's own.

with running_cluster(directory, brokers=3) as cluster:
    Producer({"bootstrap.servers": cluster.bootstrap_servers})
"""

import contextlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from broker.config.properties import properties_text
from tests.place import HERE, Place
from tests.warm_start import WarmProcess, start, started
from tests.zookeeper_server import (
    ZooKeeperEnsemble,
    ZooKeeperServer,
    free_ports,
    running_ensemble,
    running_zookeeper,
)

_DEADLINE_S = 40


def await_true(
    condition: Callable[[], object], what: str, deadline_s: float = _DEADLINE_S, why_not: Callable[[], str] = lambda: ""
) -> None:
    """Return as soon as `condition()` is true; AssertionError naming `what` when it does not become true in time, and
    what `why_not` says then.
    """
    end = time.monotonic() + deadline_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(
                f"not within {deadline_s:g} s: {what}" + (f"; {reason}" if (reason := why_not()) else "")
            )
        time.sleep(0.02)


@dataclass
class BrokerProcess:
    """One broker's process and where it listens; can be killed and started again on the same data."""

    broker_id: int
    port: int
    metrics_port: int
    directory: Path
    zookeeper_connect: str
    #: `{port}` in a value is the broker's.
    overrides: dict[str, str] = field(default_factory=dict)
    #: What is started; `--config FILE` is put behind it.
    command: Sequence[str] = (sys.executable, "-m", "broker", "server")
    place: Place = HERE
    process: subprocess.Popen | WarmProcess | None = None

    @property
    def host(self) -> str:
        return self.place.address

    @property
    def log_path(self) -> Path:
        return self.directory / "broker.log"

    @property
    def log_dirs(self) -> list[Path]:
        return [Path(part) for part in self.overrides.get("log.dirs", str(self.directory / "logs")).split(",")]

    def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        properties = {
            "broker.id": self.broker_id,
            "listeners": f"PLAINTEXT://{self.host}:{self.port}",
            "log.dirs": self.directory / "logs",
            "zookeeper.connect": self.zookeeper_connect,
            "zookeeper.session.timeout.ms": 4000,
            "group.initial.rebalance.delay.ms": 100,
            "max.connections.per.ip": 20_000,
            "offsets.topic.num.partitions": 5,
            "transaction.state.log.num.partitions": 5,
            "metrics.listener": f"{self.host}:{self.metrics_port}",
            **{key: value.replace("{port}", str(self.port)) for key, value in self.overrides.items()},
        }
        config = self.directory / "server.properties"
        config.write_text(properties_text({key: str(value) for key, value in properties.items()}))
        with self.log_path.open("ab") as log:
            if (self.command, self.place) == (BrokerProcess.command, HERE):
                self.process = started(["server", "--config", str(config)], log)
            else:
                self.process = start([*self.place.enter, *self.command, "--config", str(config)], log)

    def await_healthy(self) -> None:
        last_lines = lambda: f"its log:\n{self.log_path.read_text()[-3000:]}"  # noqa: E731
        await_true(self._is_healthy, f"broker {self.broker_id} healthy", why_not=last_lines)

    def _is_healthy(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"broker ended with {self.process.returncode}:\n{self.log_path.read_text()[-3000:]}")
        try:
            return self.get("/healthz").startswith("ok")
        except OSError:
            return False

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.host}:{self.metrics_port}{path}", timeout=5) as answer:
            return answer.read().decode()

    def kill(self) -> None:
        """As `kill -9`."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """As SIGTERM; the exit status."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else 0
        self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            log = self.log_path.read_text()[-3000:]
            raise AssertionError(f"broker {self.broker_id} did not stop within 20 s; its log:\n{log}") from None


@dataclass
class Cluster:
    zookeeper: ZooKeeperServer | ZooKeeperEnsemble
    brokers: list[BrokerProcess]

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"{broker.host}:{broker.port}" for broker in self.brokers)

    def broker(self, broker_id: int) -> BrokerProcess:
        return next(broker for broker in self.brokers if broker.broker_id == broker_id)

    def stop_brokers(self) -> None:
        for broker in self.brokers:
            if broker.process and broker.process.poll() is None:
                broker.process.terminate()
        for broker in self.brokers:
            broker.stop()


@contextlib.contextmanager
def running_cluster(
    directory: Path | None = None,
    brokers: int = 1,
    overrides: dict[str, str] | None = None,
    zookeepers: int = 1,
    super_password_file: Path | None = None,
    command: Sequence[str] = BrokerProcess.command,
    places: Mapping[str, Place] = MappingProxyType({}),
    zookeeper: ZooKeeperServer | None = None,
) -> Iterator[Cluster]:
    """Yields a cluster whose brokers serve; everything it started has ended afterwards.

    It has a chroot in `zookeeper`, if that is given, or else as many `zookeepers` of its own.

    With the file of a super password its one ZooKeeper server gets quotas. `places` says where `broker-1` and so on,
    and the one server `zookeeper`, run; who is not in it runs here.
    """
    with contextlib.ExitStack() as stack:
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-test-")))
        if zookeeper is not None:
            zookeeper = replace(zookeeper, chroot=f"/cluster-{uuid.uuid4().hex}")
        elif zookeepers == 1:
            zookeeper = stack.enter_context(
                running_zookeeper(
                    directory / "zookeeper",
                    super_password_file=super_password_file,
                    place=places.get("zookeeper", HERE),
                )
            )
        else:
            zookeeper = stack.enter_context(running_ensemble(directory / "zookeeper", zookeepers))
        ports = free_ports(2 * brokers)
        replicas = str(min(3, brokers))
        factors = {f"{topic}.replication.factor": replicas for topic in ("offsets.topic", "transaction.state.log")}
        members = [
            BrokerProcess(
                broker_id=number,
                port=ports[2 * (number - 1)],
                metrics_port=ports[2 * (number - 1) + 1],
                directory=directory / f"broker-{number}",
                zookeeper_connect=zookeeper.connect,
                overrides={**factors, **(overrides or {})},
                command=command,
                place=places.get(f"broker-{number}", HERE),
            )
            for number in range(1, brokers + 1)
        ]
        cluster = Cluster(zookeeper, members)
        stack.callback(cluster.stop_brokers)
        for broker in members:
            broker.start()
        for broker in members:
            broker.await_healthy()
        yield cluster
