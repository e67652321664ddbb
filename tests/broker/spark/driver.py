"""The process of a stream job in a test, from its properties file to the last process it started."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

_ROOT = Path(__file__).resolve().parents[3]
#: A Spark that starts on a busy machine takes this long to its first batch.
BATCH_DEADLINE_S = 240


def write_config(directory: Path, job: str, bootstrap_servers: str, **settings: str) -> Path:
    """The properties file of a job in `directory`; underscores in names stand for dots."""
    directory.mkdir(parents=True, exist_ok=True)
    pairs: Mapping[str, str] = {
        "job": job,
        "bootstrap.servers": bootstrap_servers,
        "checkpoint.dir": str(directory / "job"),
        "trigger.interval.ms": "200",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    config = directory / "stream.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in pairs.items()))
    return config


class Driver:
    """The job's process and all it starts, in a process group of its own."""

    def __init__(self, config: Path):
        self._config = config
        self._log = config.parent / "driver.log"
        self.directory = config.parent / "job"
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "broker", "stream", "--config", str(self._config)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def family(self) -> list[psutil.Process]:
        """The job's process, and all it has started that live."""
        own = psutil.Process(self._process.pid)
        return [own, *own.children(recursive=True)]

    def batches_begun(self) -> int:
        """The number of the newest batch, -1 before the first."""
        assert self._process.poll() is None, f"driver ended: {self._log.read_text()[-3000:]}"
        files = (self.directory / "checkpoint" / "offsets").glob("[0-9]*")
        return max((int(file.name) for file in files), default=-1)

    def kill(self) -> None:
        """As `kill -9` of everything; no process of the job is left when this returns."""
        if self._process is None or self._process.poll() is not None:
            return
        family = self.family()[1:]
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family, timeout=10)

    def await_batch_after(self, batch: int) -> int:
        """The number of a later batch, within a millisecond or so of the moment it began."""
        deadline = time.monotonic() + BATCH_DEADLINE_S
        while (newest := self.batches_begun()) <= batch:
            assert time.monotonic() < deadline, f"no batch after {batch}: {self._log.read_text()[-3000:]}"
            time.sleep(0.001)
        return newest

    def terminate(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)

    def progress(self) -> dict:
        return json.loads((self.directory / "progress.json").read_text())
