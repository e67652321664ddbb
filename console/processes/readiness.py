"""Asking a living process whether it serves: its ports, ZooKeeper's own word, a stream job's heartbeat."""

import json
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from console.processes.states import silence_of

CONNECT_TIMEOUT_S = 0.3
HTTP_TIMEOUT_S = 1.0
PROGRESS_FILE = "progress.json"
#: A stream job writes its progress file every second; Spark's start can starve it for a few.
HEARTBEAT_AGE_MAX_S = 15


def silence_of_ports(ports: Sequence[int]) -> str:
    """Return what is missing while some of `ports` do not answer; empty if all do."""
    return silence_of(tuple(port for port in ports if not port_answers(port)))


def answer_of_ports(ports: Sequence[int]) -> str:
    """Return the sentence about ports that all answer."""
    if not ports:
        return "it has no port"
    return f"port {ports[0]} answers" if len(ports) == 1 else f"ports {', '.join(map(str, ports))} answer"


def silence_of_http(ports: Sequence[int]) -> str:
    """Return what is missing, as `silence_of_ports`, of HTTP servers: any status counts as an answer."""
    return silence_of(tuple(port for port in ports if not _http_answers(port)))


def _http_answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), CONNECT_TIMEOUT_S) as connection:
            connection.settimeout(HTTP_TIMEOUT_S)
            connection.sendall(b"GET /barnabas-is-there HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return connection.recv(64).startswith(b"HTTP/1.")
    except OSError:
        return False


def port_answers(port: int, host: str = "127.0.0.1") -> bool:
    try:
        with socket.create_connection((host, port), CONNECT_TIMEOUT_S):
            return True
    except OSError:
        return False


def zookeeper_serves(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether the server answers `srvr`: its port is open long before it has a leader."""
    try:
        with socket.create_connection((host, port), CONNECT_TIMEOUT_S) as connection:
            connection.settimeout(CONNECT_TIMEOUT_S)
            connection.sendall(b"srvr")
            return any(b"Mode:" in data for data in iter(lambda: connection.recv(4096), b""))
    except OSError:
        return False


def read_progress(directory: Path) -> dict[str, Any]:
    """Return the stream job's last progress file; empty without one."""
    try:
        progress = json.loads((directory / PROGRESS_FILE).read_text())
    except (OSError, ValueError):
        return {}
    return progress if isinstance(progress, dict) else {}


def silence_of_job(progress: Mapping[str, Any], pid: int, now_s: float) -> str:
    """Return why a job is silent; a progress file of another pid is from an earlier run and does not count."""
    if progress.get("pid") != pid or progress.get("state") == "starting":
        return "Spark does not run the query"
    age_s = now_s - progress.get("heartbeat_ms", 0) / 1000
    return f"its last sign of life is {age_s:.0f} s old" if age_s > HEARTBEAT_AGE_MAX_S else ""
