"""The access job on a real Spark: killed in mid-batch, it loses and doubles nothing; told to stop, it stops."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest
from confluent_kafka import Message, Producer

from broker.spark.sink_state import BATCH_HEADER, QUERY_HEADER
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import all_records

_ROOT = Path(__file__).resolve().parents[3]
MINUTE_MS = 60_000
#: A Spark that starts on a busy machine takes this long to its first batch.
BATCH_DEADLINE_S = 90


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

    def batches_begun(self) -> int:
        """The number of the newest batch the sink has begun to write, -1 before the first."""
        assert self._process.poll() is None, f"driver ended: {self._log.read_text()[-3000:]}"
        files = (self.directory / "checkpoint" / "sink").glob("batch-*.json")
        return max((int(file.stem.removeprefix("batch-")) for file in files), default=-1)

    def kill(self) -> None:
        """As `kill -9` of everything; no process of the job is left when this returns."""
        if self._process is None or self._process.poll() is not None:
            return
        family = psutil.Process(self._process.pid).children(recursive=True)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family, timeout=10)

    def terminate(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)

    def progress(self) -> dict:
        return json.loads((self.directory / "progress.json").read_text())


class Traffic:
    """Access lines of the last three minutes at a steady pace, and the counts they must come to."""

    def __init__(self, bootstrap_servers: str):
        self._producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": "all", "log_level": 2})
        self._random = random.Random(7)
        self._first_ms = (int(time.time() * 1000) // MINUTE_MS - 3) * MINUTE_MS
        self._enough = Event()
        self._thread = Thread(target=self._flow)
        self.truth: Counter[str] = Counter()
        self.lines = 0

    def __enter__(self) -> "Traffic":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._enough.set()
        self._thread.join()

    def finish(self) -> None:
        """Every line is acknowledged and counted in `truth` when this returns."""
        self.__exit__()
        assert self._producer.flush(20) == 0

    def _flow(self) -> None:
        while not self._enough.wait(0.02):
            for _ in range(5):
                self._send_line()
            self._producer.poll(0)

    def _send_line(self) -> None:
        time_ms = self._first_ms + self._random.randrange(3 * MINUTE_MS)
        window = datetime.fromtimestamp(time_ms // MINUTE_MS * 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        path, status = f"/page/{self._random.randrange(8)}", self._random.choice([200, 200, 404])
        line = json.dumps({"time_ms": time_ms, "path": path, "status": status, "user": "x"})
        if self.lines % 50 == 0:
            line, path, status = self._random.choice(["", "{", "[1]", '{"path": "/only"}']), "(malformed)", 0
        self._producer.produce("console.access", line, timestamp=time_ms)
        self.truth[f"{window}|{path}|{status}"] += 1
        self.lines += 1


@pytest.fixture
def cluster(tmp_path):
    with running_cluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.fixture
def driver(tmp_path, cluster):
    config = tmp_path / "stream.properties"
    config.write_text(
        f"job=access_counts\nbootstrap.servers={cluster.bootstrap_servers}\ncheckpoint.dir={tmp_path / 'job'}\n"
        "trigger.interval.ms=200\ntopic.partitions=3\n"
    )
    driver = Driver(config)
    yield driver
    driver.kill()


def latest_counts(records: list[Message]) -> dict[str, int]:
    return {record.key().decode(): json.loads(record.value())["count"] for record in records}


def await_batch_after(driver: Driver, batch: int) -> int:
    """The number of a later batch, within a millisecond or so of the moment it began to be written."""
    deadline = time.monotonic() + BATCH_DEADLINE_S
    while (newest := driver.batches_begun()) <= batch:
        assert time.monotonic() < deadline, f"no batch after {batch}"
        time.sleep(0.001)
    return newest


@pytest.mark.spark
@pytest.mark.timeout(400)
def test_counts_are_exact_after_two_kills_in_mid_stream(cluster, driver):
    with Traffic(cluster.bootstrap_servers) as traffic:
        newest = 1
        for _ in range(2):
            driver.start()
            newest = await_batch_after(driver, newest)
            driver.kill()
        driver.start()
        await_batch_after(driver, newest)
        traffic.finish()

    def counts() -> dict[str, int]:
        return latest_counts(all_records(cluster.bootstrap_servers, "console.access.counts"))

    await_true(lambda: sum(counts().values()) >= traffic.lines, "as many requests counted as sent", 90)
    assert driver.terminate() == 0
    assert driver.progress()["state"] == "stopped"

    records = all_records(cluster.bootstrap_servers, "console.access.counts")
    assert latest_counts(records) == dict(traffic.truth)
    written = Counter((*(dict(r.headers())[h] for h in (QUERY_HEADER, BATCH_HEADER)), r.key()) for r in records)
    assert max(written.values()) == 1, "no key of a batch was written twice"
    assert len({query for query, _, _ in written}) == 1, "one query, from its first start on"
    first = json.loads(records[0].value())
    assert set(first) == {"window_start", "window_end", "path", "status", "count"}
