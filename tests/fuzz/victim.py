"""The broker that is attacked, and what must hold of it whatever is sent: it lives, nothing appears or disappears
outside its log directories, its memory comes back, its loop does not stand still.
"""

import contextlib
import hashlib
import json
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import psutil
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from broker.client.connection import BrokerConnection
from broker.protocol.messages.describe_requests import DescribeRequestsRequest
from broker.security.membership import ClusterMembership
from broker.zookeeper import znodes
from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.bench.raw import RawConnection, produce_frame
from tests.faults.checker import faults_in_log

TOPICS = ("t", "t-compacted")
#: What a broker may hold while it is attacked, and when all who attacked it are gone.
RSS_UNDER_ATTACK_MAX_MB = 900
RSS_AFTERWARDS_MAX_MB = 450
_SETTLE_S = 20


class Stall(NamedTuple):
    computed_ms: float
    took_ms: float
    stack: str
    #: What the loop was at on the way there, with the API where that is known.
    looks: list[str]


class Victim:
    """One broker and the directory around it; `outside` is where nothing may happen."""

    def __init__(self, cluster: Cluster, outside: Path, stalls: Path):
        self.broker = broker = cluster.brokers[0]
        self.facts, secret = _looked_around(cluster)
        self._membership = ClusterMembership(secret, lambda: os.urandom(16).hex())
        self.outside = outside
        self._stalls = stalls
        self._before = _tree(outside)
        self._process = psutil.Process(broker.process.pid)
        self.rss_max_mb = 0.0

    def forget_rss_peak(self) -> None:
        Path(f"/proc/{self.broker.process.pid}/clear_refs").write_text("5")

    @property
    def rss_peak_mb(self) -> float:
        """Since the broker's process began, or it was forgotten."""
        status = Path(f"/proc/{self.broker.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6

    def connect(self, *, as_member: bool) -> socket.socket:
        """As a stranger, or as who knows the secret of the cluster. OSError when the broker does not take anybody."""
        if not as_member:
            return socket.create_connection(("127.0.0.1", self.broker.port), timeout=10)
        connection = BrokerConnection("127.0.0.1", self.broker.port)
        connection.ask(DescribeRequestsRequest(), membership=self._membership)
        return connection._socket

    def violations(self) -> list[str]:
        """What does not hold now; to be asked again and again."""
        if self.broker.process.poll() is not None:
            return [f"the broker ended with {self.broker.process.returncode}:\n{self.log_end()}"]
        collected = []
        rss_mb = self._process.memory_info().rss / 1e6
        self.rss_max_mb = max(self.rss_max_mb, rss_mb)
        if rss_mb > RSS_UNDER_ATTACK_MAX_MB:
            collected.append(f"it holds {rss_mb:.0f} MB, {RSS_UNDER_ATTACK_MAX_MB} MB are the bound")
        if (after := _tree(self.outside)) != self._before:
            collected.append(f"outside its log directories: {sorted(after.items() ^ self._before.items())}")
        return collected

    def final_violations(self) -> list[str]:
        """When all attackers are gone: it serves, has given its memory back, and its log tells of no fault of ours."""
        violations_afterwards = self.violations_afterwards()
        return (
            violations_afterwards
            if self.broker.process.poll() is not None
            else violations_afterwards + self._start_again()
        )

    def violations_afterwards(self) -> list[str]:
        """The same without another start."""
        violations = self.violations()
        if self.broker.process.poll() is not None:
            return violations
        deadline = time.monotonic() + _SETTLE_S
        while self._process.memory_info().rss > RSS_AFTERWARDS_MAX_MB * 1e6 and time.monotonic() < deadline:
            time.sleep(0.2)
        left_mb = self._process.memory_info().rss / 1e6
        if left_mb > RSS_AFTERWARDS_MAX_MB:
            violations.append(f"it keeps {left_mb:.0f} MB, {RSS_AFTERWARDS_MAX_MB} MB are the bound")
        return violations + faults_in_log(self.broker.log_path)

    def _start_again(self) -> list[str]:
        """What a member says a broker may believe until it hears better; what is on its disks must not end a start."""
        try:
            self.broker.stop()
            self.broker.start()
            self.broker.await_healthy()
        except AssertionError as error:
            return [f"it does not stop and start: {error}"]
        return [] if self._serves() else [f"it serves nobody after its next start:\n{self.log_end()}"]

    def stalls(self) -> list[Stall]:
        if not self._stalls.exists():
            return []
        return [Stall(**json.loads(line)) for line in self._stalls.read_text().splitlines()]

    def log_end(self) -> str:
        return self.broker.log_path.read_text(errors="replace")[-3_000:]

    def _serves(self) -> bool:
        """Whether somebody who means well gets a record written; the topics may be gone by now."""
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{self.broker.port}"})
        name = f"afterwards-{time.monotonic_ns()}"
        try:
            admin.create_topics([NewTopic(name, 1, 1)])[name].result(20)
            await_true(lambda: not admin.list_topics(name, timeout=5).topics[name].error, "topic", 20)
            connection = RawConnection("127.0.0.1", self.broker.port)
            connection.send(produce_frame(name, b"x" * 100))
            return bool(connection.answers(1))
        except Exception as error:
            print(f"afterwards: {error}", file=sys.stderr)
            return False


@contextlib.contextmanager
def running_victim(directory: Path, settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[Victim]:
    """`settings` of the broker, besides those that keep it small."""
    outside = directory / "outside"
    (outside / "victim-0").mkdir(parents=True)
    (outside / "victim-0" / "notes.txt").write_text("keep me")
    stalls = directory / "stalls.jsonl"
    command = [sys.executable, "-m", "tests.fuzz.watched_broker", str(stalls)]
    configuration = {"log.retention.bytes": "20000000", "log.retention.check.interval.ms": "5000"}
    with running_cluster(directory / "cluster", overrides={**configuration, **settings}, command=command) as cluster:
        _make_topics(cluster.bootstrap_servers)
        yield Victim(cluster, outside, stalls)


def _make_topics(bootstrap_servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    wanted = [NewTopic(TOPICS[0], 2, 1), NewTopic(TOPICS[1], 1, 1, config={"cleanup.policy": "compact"})]
    for creation in admin.create_topics(wanted).values():
        creation.result(30)


def _looked_around(cluster: Cluster) -> tuple[dict[str, int], bytes]:
    """The epochs that the controller would name, and the cluster's secret."""
    zookeeper = KazooClient(cluster.zookeeper.connect)
    zookeeper.start()
    try:
        registered = zookeeper.exists("/brokers/ids/1")
        controller_epoch = int(zookeeper.get("/controller_epoch")[0])
        facts = {"broker_epoch": registered.czxid, "controller_epoch": controller_epoch, "controller_id": 1}
        return facts, znodes.decode_secret(zookeeper.get(znodes.SECRET)[0])
    finally:
        zookeeper.stop()
        zookeeper.close()


def _tree(root: Path) -> dict[str, str]:
    """Every file and directory below `root`, by what is in it."""
    digests = {}
    for path, directories, files in os.walk(root):
        for name in directories:
            digests[os.path.join(path, name)] = "directory"
        for name in files:
            digests[os.path.join(path, name)] = hashlib.sha256(Path(path, name).read_bytes()).hexdigest()
    return digests


def summary_of(stalls: list[Stall]) -> str:
    """How often, how long, and where: by the innermost line of ours."""
    places = Counter(_place(stall.stack) for stall in stalls)
    longest = {}
    for stall in stalls:
        place = _place(stall.stack)
        longest[place] = max(longest.get(place, 0), stall.computed_ms)
    return "\n".join(
        f"  {count:>5} × up to {longest[place]:.0f} ms  {place}" for place, count in places.most_common(20)
    )


def _place(stack: str) -> str:
    lines = [line.strip() for line in stack.splitlines() if line.strip().startswith("File ")]
    ours = [line for line in lines if "/broker/" in line] or lines
    return ours[-1] if ours else "not seen: it was over before it could be looked at"
