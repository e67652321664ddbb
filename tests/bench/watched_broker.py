"""A broker as `python -m broker server` runs it, and how long its loop was not there for others.

`python watched_broker.py CONFIG REPORT`: at SIGUSR1 it writes to REPORT what was longest since the last time, as JSON.
It imports the `broker` of its working directory, so that another commit's can be measured by the same means.
"""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))

from broker.cli import server

_TICK_S = 0.002


class Watch:
    """Ticks on the loop: between two ticks the loop was busy, or waited for something that is not its turn."""

    def __init__(self, report: Path):
        self._report = report
        self._fsync = os.fsync
        os.fsync = self._counted_fsync
        self._syncs = self._longest_syncs = 0
        self._forget()

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.add_signal_handler(signal.SIGUSR1, self._tell)
        self._mark()
        self._loop.call_later(_TICK_S, self._tick)

    def _mark(self) -> None:
        self._at, self._cpu_at, self._syncs = time.perf_counter(), time.thread_time(), 0

    def _tick(self) -> None:
        self._longest_s = max(self._longest_s, time.perf_counter() - self._at - _TICK_S)
        self._longest_cpu_s = max(self._longest_cpu_s, time.thread_time() - self._cpu_at)
        self._longest_syncs = max(self._longest_syncs, self._syncs)
        self._mark()
        self._loop.call_later(_TICK_S, self._tick)

    def _counted_fsync(self, fd: int) -> None:
        if threading.current_thread() is threading.main_thread():
            self._syncs += 1
        self._fsync(fd)

    def _tell(self) -> None:
        report = {
            "wall_ms": 1000 * self._longest_s,
            "cpu_ms": 1000 * self._longest_cpu_s,
            "fsyncs": self._longest_syncs,
        }
        temporary = self._report.with_suffix(".tmp")
        temporary.write_text(json.dumps(report))
        temporary.replace(self._report)
        self._forget()

    def _forget(self) -> None:
        self._longest_s = self._longest_cpu_s = 0.0
        self._longest_syncs = 0


def main(config: str, report: str) -> int:
    watch, serve = Watch(Path(report)), server._serve

    async def serve_watched(settings) -> int:
        watch.start()
        return await serve(settings)

    server._serve = serve_watched
    return server.main(["--config", config])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
