"""Whether the stream job `message_audit` keeps up on Spark with 1,000,000 records/s that are counted.

python -m tests.bench.audit_on_spark [--minutes 12]

One broker, the job's process as anybody starts it, and a writer that tells what 1,000 partitions with that traffic
tell: 700 increments/s, at the time it is (`audit_windows`); each report of ten seconds is spread over ten seconds. Told
are the job's batches, how much traffic its windows lack, and what its processes take. The first half of the time, in
which Spark starts and the state grows, stands apart.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import orjson
import psutil
from confluent_kafka import Consumer, Producer

from broker.audit.increment import AUDIT_TOPIC, AuditTier
from broker.audit.topic import ensure_topic
from broker.spark.jobs.message_audit import WINDOWS_TOPIC
from tests.barnabas_cluster import await_true, running_cluster
from tests.bench.audit_windows import PARTITIONS, RECORDS_PER_S, REPORT_MS, increments_of
from tests.broker.spark.driver import BATCH_DEADLINE_S, Driver, write_config

TOPIC = "counted"
_BURSTS = 100
_LOOK_S = 1.0


class Look(NamedTuple):
    """At the job and its processes. `behind_s`: of traffic, what was told and is not in the windows yet."""

    at_s: float
    behind_s: float
    lag: int
    cpu_s: dict[str, float]
    mb: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=12, help="how long, from the first batch on")
    minutes = parser.parse_args().minutes
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="barnabas-audit-")))
        servers = stack.enter_context(running_cluster(root / "cluster")).bootstrap_servers
        ensure_topic({"bootstrap.servers": servers})
        config = write_config(root / "job", "message_audit", servers, trigger_interval_ms=str(REPORT_MS))
        driver = Driver(config)
        stack.callback(driver.kill)
        reports = stack.enter_context(_writing(servers))
        driver.start()
        await_true(lambda: driver.batches_begun() >= 1, "the job's first batch is done", BATCH_DEADLINE_S)
        looks, batches = _watched(driver, servers, reports, minutes * 60)
        assert driver.terminate() == 0
    half = looks[0].at_s + minutes * 30
    _say("first half", [look for look in looks if look.at_s < half], batches[: len(batches) // 2])
    _say("second half", [look for look in looks if look.at_s >= half], batches[len(batches) // 2 :])


@contextmanager
def _writing(servers: str) -> Iterator[list[float]]:
    """From a thread; how many reports were acknowledged is the one element."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "enable.idempotence": True, "log_level": 0})
    stop, reports = threading.Event(), [0.0]

    def acknowledged(error, _message):
        assert error is None, error
        reports[0] += 1 / per_report

    per_report = sum(1 for _ in increments_of(TOPIC, 0, 0))
    thread = threading.Thread(target=_write, args=(producer, stop, acknowledged, per_report))
    thread.start()
    try:
        yield reports
    finally:
        stop.set()
        thread.join()
        assert producer.flush(60) == 0


def _write(producer: Producer, stop: threading.Event, acknowledged, per_report: int) -> None:
    begun_at, number = time.monotonic(), 0
    while not stop.is_set():
        # In the order of partitions, as their sources take turns; all of a report says the time at which it began.
        for at, increment in enumerate(increments_of(TOPIC, number, time.time_ns() // 1_000_000)):
            if at % (per_report // _BURSTS) == 0:
                producer.poll(0)
                due = begun_at + (number + at / per_report) * REPORT_MS / 1000
                if stop.wait(max(0.0, due - time.monotonic())):
                    return
            producer.produce(AUDIT_TOPIC, increment.to_bytes(), increment.key(), on_delivery=acknowledged)
        number += 1


def _watched(driver: Driver, servers: str, reports: list[float], seconds: float) -> tuple[list[Look], list[dict]]:
    """What was seen, and Spark's own word on each batch."""
    windows, looks, batches = Windows(servers), [], {}
    deadline = time.monotonic() + seconds
    while (now := time.monotonic()) < deadline:
        facts = driver.progress()
        assert facts["state"] == "running", facts
        if facts.get("batch_id") is not None:
            batches[facts["batch_id"]] = facts
        counted = windows.counted()
        behind_s = reports[0] * REPORT_MS / 1000 - counted / RECORDS_PER_S
        looks.append(Look(now, behind_s, facts.get("lag") or 0, *_used(driver)))
        time.sleep(_LOOK_S)
    windows.close()
    return looks, list(batches.values())


class Windows:
    """The topic of windows, read as it is written: the newest row of a key counts."""

    def __init__(self, servers: str):
        self._consumer = Consumer(
            {"bootstrap.servers": servers, "group.id": "bench", "auto.offset.reset": "earliest",
             "isolation.level": "read_committed", "enable.auto.commit": False, "log_level": 0}
        )  # fmt: skip
        self._consumer.subscribe([WINDOWS_TOPIC])
        self._records: dict[bytes, int] = {}

    def counted(self) -> int:
        """Records that were appended, as all windows say."""
        while messages := self._consumer.consume(1_000, 0.1):
            for message in messages:
                if message.error() is None and message.value() is not None:
                    row = orjson.loads(message.value())
                    if row.get("tier") == AuditTier.APPENDED:
                        self._records[message.key()] = row["count"]
        return sum(self._records.values())

    def close(self) -> None:
        self._consumer.close()


def _used(driver: Driver) -> tuple[dict[str, float], dict[str, float]]:
    """Processor seconds and memory of the driver's Python, of Java and of the Python workers."""
    cpu_s, mb = dict.fromkeys(("driver", "java", "workers"), 0.0), dict.fromkeys(("driver", "java", "workers"), 0.0)
    for at, process in enumerate(driver.family()):
        with suppress(psutil.Error):
            kind = "driver" if not at else "java" if "java" in process.name() else "workers"
            used = process.cpu_times()
            # Of workers that have ended whoever forked them knows.
            cpu_s[kind] += sum(used[:2]) if kind != "workers" else sum(used[:4])
            # Workers are forked and share much.
            mb[kind] += process.memory_full_info().pss / 1e6
    return cpu_s, mb


def _say(what: str, looks: list[Look], batches: list[dict]) -> None:
    seconds = looks[-1].at_s - looks[0].at_s
    took = [batch["duration_ms"]["triggerExecution"] / 1000 for batch in batches]
    behind = [look.behind_s for look in looks]
    cores = {kind: (looks[-1].cpu_s[kind] - at) / seconds for kind, at in looks[0].cpu_s.items()}
    mb = {kind: max(look.mb[kind] for look in looks) for kind in looks[0].mb}
    print(
        f"{what}: {RECORDS_PER_S:,} records/s counted in {PARTITIONS:,} partitions · {len(took)} batches of "
        f"{REPORT_MS / 1000:g} s take {statistics.median(took):.1f} s (at most {max(took):.1f}) · windows lack "
        f"{statistics.median(behind):.0f} s (at most {max(behind):.0f}, last {behind[-1]:.0f}) · increments not read "
        f"{statistics.median(look.lag for look in looks):,.0f} (at most {max(look.lag for look in looks):,}) · state "
        f"{batches[-1]['state_bytes'] / 1e6:.1f} MB · cores "
        + ", ".join(f"{kind} {used:.2f}" for kind, used in cores.items())
        + " · MB "
        + ", ".join(f"{kind} {used:.0f}" for kind, used in mb.items()),
        flush=True,
    )


if __name__ == "__main__":
    main()
