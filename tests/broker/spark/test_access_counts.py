"""Counts of windows on a real Spark: killed in mid-batch, they lose and double nothing; told to stop, they stop."""

import json
import random
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from threading import Event, Thread

import pytest
from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from broker.audit.increment import AUDIT_TOPIC
from tests.audit_ledger import ledger_of
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.mock_cluster import all_records
from tests.broker.spark.audit.counted import Counted, table_of
from tests.broker.spark.audit.world import TOPIC, rows_of, verdicts_of
from tests.broker.spark.driver import Driver, write_config

MINUTE_MS = 60_000
MISSING = "(missing)"


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
        #: Lines that say no time, and so are in no window.
        self.dead = 0

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
            line, path, status = json.dumps({"time_ms": time_ms, "path": "/only"}), "/only", MISSING
        if self.lines % 50 == 25:
            self.dead += 1
            line = self._random.choice(["", "{", "[1]", '{"path": "/only"}'])
        else:
            self.truth[f"{window}|{path}|{status}"] += 1
        self._producer.produce("console.access", line, timestamp=time_ms)
        self.lines += 1


@pytest.fixture
def cluster(tmp_path, zookeeper):
    with running_cluster(tmp_path / "cluster", zookeeper=zookeeper) as cluster:
        yield cluster


@pytest.fixture
def driver(tmp_path, cluster):
    counted = {"input_topic": "console.access", "output_topic": "console.access.counts"}
    counted |= {"group_by": "$.path,$.status", "time_field": "$.time_ms", "topic_partitions": "3"}
    driver = Driver(write_config(tmp_path, "windowed_counts", cluster.bootstrap_servers, **counted))
    yield driver
    driver.kill()


def latest_counts(records: list[Message]) -> dict[str, int]:
    return {record.key().decode(): json.loads(record.value())["count"] for record in records}


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_counts_are_exact_after_a_kill_in_mid_stream(cluster, driver):
    with Traffic(cluster.bootstrap_servers) as traffic:
        driver.start()
        newest = driver.await_batch_after(1)
        driver.kill()
        driver.start()
        driver.await_batch_after(newest)
        traffic.finish()

    def counts() -> dict[str, int]:
        return latest_counts(all_records(cluster.bootstrap_servers, "console.access.counts"))

    await_true(lambda: sum(counts().values()) >= traffic.lines - traffic.dead, "as many requests counted as sent", 90)
    assert driver.terminate() == 0
    assert driver.progress()["state"] == "stopped"
    assert 0 < driver.progress()["dead_records"] <= traffic.dead, "a killed driver does not tell of its last batch"

    records = all_records(cluster.bootstrap_servers, "console.access.counts")
    assert latest_counts(records) == dict(traffic.truth)
    by_key: dict[bytes, list[int]] = defaultdict(list)
    for record in records:
        by_key[record.key()].append(json.loads(record.value())["count"])
    assert all(counts == sorted(set(counts)) for counts in by_key.values()), "no count was written twice, or went back"
    first = json.loads(records[0].value())
    assert set(first) == {"window_start", "window_end", "path", "status", "count"}


def of_the_audit(servers: str) -> tuple[dict, dict]:
    """Rows and verdicts of the topic, as the audit itself finds them now."""
    ledger = ledger_of(servers)
    for chain in [story for story in ledger.stories if story.topic != TOPIC]:
        del ledger.stories[chain]
    return rows_of(ledger), verdicts_of(ledger, time.time_ns() // 1_000_000)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_windows_of_the_audit_are_those_of_its_ledger_after_a_kill_in_mid_stream(cluster, tmp_path):
    servers = cluster.bootstrap_servers
    admin = AdminClient({"bootstrap.servers": servers})
    for topic in (TOPIC, "another"):
        admin.create_topics([NewTopic(topic, 2)])[topic].result(20)
    driver = Driver(write_config(tmp_path / "job", "message_audit", servers, watermark_ms="3600000"))
    try:
        with Counted(servers) as counted:
            await_true(lambda: AUDIT_TOPIC in admin.list_topics(timeout=10).topics, "it is counted")
            driver.start()
            newest = driver.await_batch_after(2)
            driver.kill()
            counted.write_uncounted(TOPIC, 7)
            driver.start()
            driver.await_batch_after(newest + 2)
            counted.finish()

            def agrees() -> bool:
                """Something must be told of any topic, for the time to be looked at."""
                counted.write_uncounted("another", 1)
                table = table_of(servers)
                return (table.rows(), table.verdicts()) == of_the_audit(servers)

            await_true(agrees, "windows and verdicts are those of the audit", 240)
        assert driver.terminate() == 0
    finally:
        driver.kill()
    table = table_of(servers)
    verdicts = table.verdicts().values()
    assert "complete" in [state for state, _ in verdicts]
    assert sum(item.count for _, mark in verdicts for item in mark if item.state == "duplicate") == 7
    produced = sum(tally.count for (_, tier, _), (tally, _) in table.rows().items() if tier == "produced")
    assert produced == counted.produced
