"""Whom chaos may hit: the console's services, the managed processes, and what they started themselves."""

import json
import os
import random
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

SERVICES = ("redis", "fork-server", "worker", "web", "collector")


@dataclass(frozen=True, slots=True)
class Victim:
    """`role` is what the report calls it: `broker-2`, `worker`, `JVM of access-counts`."""

    role: str
    pid: int


@dataclass(frozen=True, slots=True)
class Row:
    """A managed process as the console's database has it."""

    name: str
    kind: str
    desired: str
    request: str
    observed: str
    state: str
    sentence: str
    pid: int | None
    run_token: str
    ports: tuple[int, ...]
    spec: dict[str, Any]

    @property
    def data_dir(self) -> Path:
        return Path(self.spec["directory"])

    @property
    def broker_id(self) -> int | None:
        return self.spec.get("broker_id")


def read_rows(data: Path) -> list[Row]:
    columns = "name, kind, desired, request, observed, state, state_sentence, pid, run_token, ports, spec"
    with sqlite3.connect(f"file:{data / 'console.sqlite3'}?mode=ro", uri=True, timeout=20) as database:
        result = database.execute(f"SELECT {columns} FROM processes_managedprocess ORDER BY position").fetchall()
    database.close()
    return [Row(*row[:9], tuple(json.loads(row[9])), json.loads(row[10])) for row in result]


def services(data: Path) -> list[Victim]:
    """As their run files name them."""
    victims = []
    for name in SERVICES:
        try:
            victims.append(Victim(name, json.loads((data / "run" / "services" / f"{name}.json").read_text())["pid"]))
        except (OSError, ValueError, KeyError):
            continue
    return victims


def managed(data: Path) -> list[Victim]:
    return [Victim(row.name, row.pid) for row in read_rows(data) if row.pid is not None]


def children(data: Path) -> list[Victim]:
    """Spark's JVMs: they die behind the back of whoever is watched."""
    victims = []
    for row in read_rows(data):
        if row.kind == "stream" and row.pid is not None:
            victims += [Victim(f"JVM of {row.name}", pid) for pid in _children_of(row.pid, "java")]
    return victims


def _children_of(pid: int, name: str) -> list[int]:
    """In its own session."""
    try:
        children = psutil.Process(pid).children(recursive=True)
        return [child.pid for child in children if name in child.name() and os.getsid(child.pid) == pid]
    except (psutil.NoSuchProcess, ProcessLookupError):
        return []


def choose_victim(data: Path, rng: random.Random) -> Victim | None:
    """Managed processes as often as services and children together."""
    groups = [managed(data), managed(data), services(data), children(data)]
    return rng.choice(result) if (result := rng.choice(groups)) else None
