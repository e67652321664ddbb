"""What this machine is doing, once a second: processors, load, memory, disks and network as one JSON record."""

import json
import os
import platform
from collections.abc import Mapping
from typing import Any

import psutil

from broker.connect.source import SourceOffset, SourceRecord


class HostMetricsSource:
    """One record per interval, keyed by the host's name. Counters count since the machine started.

    A measurement missed while brokers were away is not made up for.
    """

    def __init__(self, topic: str, interval_ms: int = 1_000):
        self.topic = topic
        self.poll_interval_ms = min(interval_ms, 250)
        self._interval_ms = interval_ms
        self._next_at_ms = 0
        self._host = platform.node()

    def start(self, offsets: Mapping[str, SourceOffset]) -> None:
        psutil.cpu_percent(percpu=True)  # the first answer is meaningless: it has nothing to compare with
        self._next_at_ms = 0

    def poll(self, now_ms: int) -> list[SourceRecord]:
        if self._next_at_ms == 0:
            self._next_at_ms = now_ms + self._interval_ms
        if now_ms < self._next_at_ms:
            return []
        behind = (now_ms - self._next_at_ms) // self._interval_ms
        self._next_at_ms += (behind + 1) * self._interval_ms
        value = json.dumps({"time_ms": now_ms, "host": self._host} | measure(), separators=(",", ":"))
        return [SourceRecord(self.topic, self._host.encode(), value.encode(), now_ms)]

    def stop(self) -> None:
        pass


def measure() -> dict[str, Any]:
    """Percent per core since the last call, load averages, bytes of memory, disk and network counters."""
    return {
        "cpu_percent": psutil.cpu_percent(percpu=True),
        "load": dict(zip(("1m", "5m", "15m"), os.getloadavg(), strict=True)),
        "memory": _chosen(psutil.virtual_memory(), "total", "available", "used", "percent"),
        "swap": _chosen(psutil.swap_memory(), "total", "used"),
        "disk_io": _chosen(psutil.disk_io_counters(), "read_count", "write_count", "read_bytes", "write_bytes"),
        "net_io": _chosen(
            psutil.net_io_counters(),
            *("bytes_sent", "bytes_recv", "packets_sent", "packets_recv", "errin", "errout", "dropin", "dropout"),
        ),
    }


def _chosen(counters: Any, *names: str) -> dict[str, float] | None:
    """None when the machine has no such counters (a container without disks)."""
    return {name: getattr(counters, name) for name in names} if counters is not None else None
