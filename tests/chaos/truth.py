"""What really is, asked of the system and of the cluster itself, and where it differs from what the console says."""

import json
import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.chaos.victims import SERVICES, Row, read_rows, services

TOKEN = "BARNABAS_RUN_TOKEN"
HEARTBEAT_AGE_MAX_S = 15


@dataclass
class Truth:
    """`faults` of each process, by name; `agrees` when nobody has one."""

    faults: dict[str, list[str]] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        return not any(self.faults.values())

    def of(self, name: str) -> str:
        return "; ".join(self.faults[name]) or "agrees"

    def differences(self) -> list[str]:
        return [f"{name}: {self.of(name)}" for name in self.faults]


@dataclass(frozen=True, slots=True)
class Seen:
    pid: int
    token: str
    session: int
    words: str
    is_stopped: bool


def look(data: Path, bootstrap_servers: str) -> Truth:
    """Everything that carries a run token and works in `data`, against rows and run files."""
    truth, rows, seen = Truth(), read_rows(data), processes_of(data)
    registered = ask_brokers(bootstrap_servers)
    for row in rows:
        truth.faults[row.name] = [*faults_of(row, seen), *_silence_of(row, registered)]
    known = services(data)
    for name in SERVICES:
        pid = next((item.pid for item in known if item.role == name), None)
        truth.faults[name] = [] if pid and psutil.pid_exists(pid) and not _is_dead(pid) else ["does not run"]
    truth.faults["orphans"] = _orphans(rows, {item.pid for item in known}, seen)
    return truth


def faults_of(row: Row, seen: list[Seen]) -> list[str]:
    leaders = (
        [item for item in seen if item.token == row.run_token and item.session == item.pid] if row.run_token else []
    )
    faults = []
    if row.request:
        faults.append(f"{row.request} is still asked for")
    if row.desired == "running" and row.observed not in ("running", *(["starting"] if row.kind == "stream" else [])):
        faults.append(f"wanted running, is {row.observed}: {row.sentence}")
    if row.desired == "stopped" and row.observed != "stopped":
        faults.append(f"wanted stopped, is {row.observed}")
    if (row.pid is not None) != (row.observed in ("running", "starting", "stopping", "unresponsive")):
        faults.append(f"is {row.observed} with pid {row.pid}")
    if row.pid is not None and row.pid not in {leader.pid for leader in leaders}:
        faults.append(f"pid {row.pid} is not its process")
    if any(leader.is_stopped for leader in leaders):
        faults.append("is suspended")
    doubles = [item.pid for item in seen if _is_server_of(item, row)]
    if len(doubles) != (row.desired == "running"):
        faults.append(f"runs {len(doubles)} times: {doubles}")
    return faults


def _is_server_of(seen: Seen, row: Row) -> bool:
    """By what it works on, whoever started it."""
    if row.kind == "zookeeper":
        return "QuorumPeerMain" in seen.words and f"in {row.data_dir} " in seen.words
    commands = {
        "broker": "server --config",
        "connect": "connect-worker distributed",
        "registry": "registry --config",
        "probe": "probe --config",
        "stream": "stream --config",
    }
    return f"-m broker {commands[row.kind]} {row.data_dir}/" in seen.words


def _silence_of(row: Row, registered: dict[int, str]) -> list[str]:
    if row.desired != "running":
        return [f"port {port} answers" for port in row.ports if _answers(port)]
    faults = [f"port {port} does not answer" for port in row.ports if not _answers(port)]
    if row.kind == "broker":
        faults += filter(None, [registered.get(row.broker_id, "is not registered")])
    if row.kind == "stream" and row.observed == "running":
        progress = json.loads((row.data_dir / "progress.json").read_text())
        if progress.get("pid") != row.pid or time.time() - progress["heartbeat_ms"] / 1000 > HEARTBEAT_AGE_MAX_S:
            faults.append("its heartbeat is old, or another driver's")
    return faults


def ask_brokers(bootstrap_servers: str) -> dict[int, str]:
    """Registered brokers, and of each what is wrong with its replicas: empty if all are in sync."""
    try:
        cluster = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0}).list_topics(timeout=5)
    except KafkaException:
        return {}
    lagging = dict.fromkeys(cluster.brokers, 0)
    for topic in cluster.topics.values():
        for partition in topic.partitions.values():
            for broker_id in set(partition.replicas) - set(partition.isrs):
                lagging[broker_id] = lagging.get(broker_id, 0) + 1
    return {item: f"{count} replicas are out of sync" if count else "" for item, count in lagging.items()}


def _orphans(rows: list[Row], known: set[int], seen: list[Seen]) -> list[str]:
    """Who carries a token that is no row's and is no service, nor a service's child."""
    tokens = {row.run_token for row in rows if row.pid is not None}
    return [
        f"{item.pid} ({item.words[:80]})"
        for item in seen
        if item.token not in tokens and item.pid not in known and item.session not in known
    ]


def processes_of(data: Path) -> list[Seen]:
    """Every living process with a run token that works in `data`; its own children included."""
    collected = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            words = f"{' '.join(process.cmdline())} in {process.cwd()} "
            if environment.get(TOKEN) and (str(data) in words or environment.get("BARNABAS_DATA") == str(data)):
                stopped = process.status() == psutil.STATUS_STOPPED
                collected.append(Seen(process.pid, environment[TOKEN], os.getsid(process.pid), words, stopped))
        except (psutil.Error, OSError):
            continue
    return collected


def _is_dead(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD, psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess:
        return True


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False
