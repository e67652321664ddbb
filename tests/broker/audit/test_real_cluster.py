"""The audit beside a real broker: what is planted is found, and a killed broker or counter is no trouble."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from broker.audit.counter import UNPACKED_BYTES_MAX
from broker.audit.hook import AuditedConsumer, AuditedProducer
from broker.audit.increment import AuditTier
from broker.audit.states import WindowState
from broker.audit.tally import WINDOWS_MAX
from broker.audit.topic import ensure_topic
from broker.audit.verdict import BROKERS, judge
from broker.records.batch import Compression
from tests.audit_ledger import ledger_of, merged
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.audit.made import MINUTE
from tests.produced_batches import append_batch

WINDOWS = 3
A_WINDOW = 40
PARTITIONS = 2


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    settings = {"barnabas.audit.interval.ms": "200"}
    with running_cluster(tmp_path_factory.mktemp("audited"), overrides=settings, zookeeper=zookeeper) as running:
        ensure_topic({"bootstrap.servers": running.bootstrap_servers})
        yield running


@pytest.fixture
def start_ms():
    """Windows that have just been over for so long that nobody waits for them."""
    now_ms = time.time_ns() // 1_000_000
    return now_ms - now_ms % MINUTE - 20 * MINUTE


def make_topic(cluster, name, **configs):
    topic = NewTopic(name, PARTITIONS, 1, config=configs)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([topic])[name].result(30)


def command(cluster, name, *more):
    return [sys.executable, "-m", "broker", name, "--bootstrap-server", cluster.bootstrap_servers, *more]


@contextlib.contextmanager
def counter(cluster):
    process = subprocess.Popen(command(cluster, "audit-count", "--publish-every", "0.1"), stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def config(cluster, **more):
    return {"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 500, **more}


def produce(producer, topic, start_ms, windows=range(WINDOWS)):
    for window in windows:
        for number in range(A_WINDOW):
            at_ms = start_ms + window * MINUTE + number
            value = b"%d of %d" % (number, window) + bytes(150)
            producer.produce(topic, value, partition=number % PARTITIONS, timestamp=at_ms)
        assert producer.flush(60) == 0


@contextlib.contextmanager
def audited_group(cluster, topic):
    producer = Producer(config(cluster))
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = AuditedConsumer(settings, producer, report_every_s=0.2)
    consumer.subscribe([topic])
    yield consumer
    consumer.close()


def consume(consumer, count):
    end = time.monotonic() + 60
    while count > 0:
        assert time.monotonic() < end, f"{count} more records"
        count -= consumer.poll(0.1) is not None


def verdict(cluster, topic):
    now_ms = time.time_ns() // 1_000_000
    return judge(ledger_of(cluster.bootstrap_servers), topic, now_ms)


def await_verdict(cluster, topic):
    """As soon as all tiers have told all."""

    def settled():
        result = verdict(cluster, topic)
        return len(result.rows) == WINDOWS and not result.late and all(len(row.tiers) == 3 for row in result.rows)

    await_true(settled, f"all is told of {topic}")
    return verdict(cluster, topic)


def test_a_broker_and_a_counter_that_are_killed_lead_to_no_false_verdict(cluster, start_ms):
    make_topic(cluster, "killed")
    producer = AuditedProducer(config(cluster), "test", report_every_s=0.1)
    with audited_group(cluster, "killed") as consumer:
        with counter(cluster) as process:
            produce(producer, "killed", start_ms, [0])
            await_true(lambda: verdict(cluster, "killed").rows, "something is counted")
            process.kill()
        consume(consumer, A_WINDOW // 2)
        with counter(cluster):
            cluster.brokers[0].kill()
            for number in range(A_WINDOW):
                at_ms = start_ms + MINUTE + number
                producer.produce("killed", b"%d" % number, partition=number % PARTITIONS, timestamp=at_ms)
            cluster.brokers[0].start()
            cluster.brokers[0].await_healthy()
            produce(producer, "killed", start_ms, [2])
            producer.close()
            consume(consumer, A_WINDOW // 2 + 2 * A_WINDOW)
            consumer.commit()
            verdict_now = await_verdict(cluster, "killed")
    assert [row.state for row in verdict_now.rows] == [WindowState.COMPLETE] * WINDOWS
    assert {tally.count for row in verdict_now.rows for tally in row.tiers.values()} == {A_WINDOW}
    assert verdict_now.complete_until == start_ms + WINDOWS * MINUTE


def remove_a_segment(cluster, partition):
    """The second of a log; returns how many records were in it."""
    (broker,) = cluster.brokers
    assert broker.stop() == 0
    _, second, third, *_ = sorted((broker.log_dirs[0] / partition).glob("*.log"))
    for path in second.parent.glob(f"{second.stem}.*"):
        path.unlink()
    broker.start()
    broker.await_healthy()
    return int(third.stem) - int(second.stem)


def test_a_planted_loss_duplicate_and_theft_are_found_and_nothing_else(cluster, start_ms):
    make_topic(cluster, "planted", **{"segment.bytes": "4096"})
    producer = AuditedProducer(config(cluster), "test")
    produce(producer, "planted", start_ms)
    producer.close()
    without_hook = Producer(config(cluster))
    without_hook.produce("planted", b"again", partition=1, timestamp=start_ms + 2 * MINUTE)
    assert without_hook.flush(30) == 0
    lost = remove_a_segment(cluster, "planted-0")
    with counter(cluster), audited_group(cluster, "planted") as consumer:
        starts = [TopicPartition("planted", index, 0) for index in range(PARTITIONS)]
        consumer.consumer.commit(offsets=starts, asynchronous=False)
        (stolen,) = consumer.consumer.consume(1, 30)
        consume(consumer, WINDOWS * A_WINDOW - lost)
        consumer.commit()
        result = await_verdict(cluster, "planted")
    assert [
        ((finding.window - start_ms) // MINUTE, finding.tier, finding.state, finding.count, finding.partitions)
        for finding in result.findings
    ] == [
        (0, "consumed g", WindowState.MISSING, 1, (stolen.partition(),)),
        (1, "appended", WindowState.MISSING, lost, (0,)),
        (2, "appended", WindowState.DUPLICATE, 1, (1,)),
    ]
    assert result.complete_until is None
    completed = subprocess.run(
        command(cluster, "audit", "--topic", "planted"), capture_output=True, text=True, timeout=60
    )
    assert completed.returncode == 1
    assert completed.stdout.count("\n! ") == 3


class HoldsBack:
    """A producer that sends its first record of a topic's partition after the second, as one that retries without
    numbers does.
    """

    def __init__(self, producer):
        self._producer, self._held = producer, None

    def __getattr__(self, name):
        return getattr(self._producer, name)

    def produce(self, topic, **more):
        if self._held is None and topic == "counted":
            self._held = more
            return
        self._producer.produce(topic, **more)
        if topic == "counted" and self._held:
            held, self._held = self._held, {}
            self._producer.produce(topic, **held)


def test_with_the_brokers_own_count_a_planted_loss_duplicate_and_disorder_are_found_within_two_windows(
    cluster, start_ms
):
    """No counter runs; nothing else is found."""
    make_topic(cluster, "counted", **{"segment.bytes": "4096", "barnabas.audit.enable": "true"})
    producer = AuditedProducer(config(cluster), "test")
    produce(producer, "counted", start_ms)
    disorderly = producer.producer
    producer.producer = HoldsBack(disorderly)
    for number in range(A_WINDOW):
        producer.produce("counted", b"%d" % number, partition=0, timestamp=start_ms + WINDOWS * MINUTE + number)
    assert producer.flush(60) == 0
    producer.close()
    without_hook = Producer(config(cluster))
    without_hook.produce("counted", b"again", partition=1, timestamp=start_ms + 2 * MINUTE)
    assert without_hook.flush(30) == 0
    count = (WINDOWS + 1) * A_WINDOW + 1

    def is_told():
        rows = verdict(cluster, "counted").rows
        return sum(row.tiers[BROKERS].count for row in rows if BROKERS in row.tiers) == count

    await_true(is_told, "brokers have told all")
    lost = remove_a_segment(cluster, "counted-0")
    with audited_group(cluster, "counted") as consumer:
        starts = [TopicPartition("counted", index, 0) for index in range(PARTITIONS)]
        consumer.consumer.commit(offsets=starts, asynchronous=False)
        consume(consumer, count - lost)
        consumer.commit()
        two_windows_later = start_ms + (WINDOWS + 3) * MINUTE
        ledger = ledger_of(cluster.bootstrap_servers)
    result = judge(ledger, "counted", two_windows_later)
    assert [
        ((finding.window - start_ms) // MINUTE, finding.tier, finding.state, finding.count, finding.partitions)
        for finding in result.findings
    ] == [
        (1, "consumed g", WindowState.MISSING, lost, (0,)),
        (2, BROKERS, WindowState.DUPLICATE, 1, (1,)),
        (3, BROKERS, WindowState.REORDERED, 1, (0,)),
    ]


def test_a_transaction_that_is_aborted_was_never_produced(cluster, start_ms):
    make_topic(cluster, "transactions")
    producer = AuditedProducer(config(cluster, **{"transactional.id": "t"}), "test")
    producer.producer.init_transactions(30)
    for window, end in enumerate(
        [producer.commit_transaction, producer.abort_transaction, producer.commit_transaction]
    ):
        producer.begin_transaction()
        produce(producer, "transactions", start_ms, [window])
        end()
    producer.close()
    with counter(cluster), audited_group(cluster, "transactions") as consumer:
        consume(consumer, 2 * A_WINDOW)
        consumer.commit()
        await_true(
            lambda: (
                [(row.state, len(row.tiers)) for row in verdict(cluster, "transactions").rows]
                == [(WindowState.COMPLETE, 3)] * 2
            ),
            "both transactions are complete, and the aborted one is none",
        )


def test_more_windows_than_are_held_at_once_are_counted_all_the_same(cluster, start_ms):
    count = WINDOWS_MAX + 500
    make_topic(cluster, "scattered")
    producer = AuditedProducer(config(cluster), "test")
    for minute in range(count):
        producer.produce("scattered", b"", partition=0, timestamp=start_ms - minute * MINUTE)
    producer.close()
    with counter(cluster), audited_group(cluster, "scattered") as consumer:
        consume(consumer, count)
        consumer.commit()
        await_true(
            lambda: [row.state for row in verdict(cluster, "scattered").rows] == [WindowState.COMPLETE] * count,
            "all windows are complete",
        )


def test_a_batch_that_cannot_be_unpacked_is_a_gap_and_the_counter_counts_on(cluster, start_ms):
    """librdkafka unpacked whatever it was sent: a batch of 1 MB may be 1 GB of gzip."""
    make_topic(cluster, "bombed")
    for value in (b"first", bytes(4 * UNPACKED_BYTES_MAX), b"last"):
        append_batch(cluster.bootstrap_servers, "bombed", [value], Compression.GZIP)

    def windows_counted():
        stories = ledger_of(cluster.bootstrap_servers).of("bombed", AuditTier.APPENDED)
        return [
            (increment.start, increment.end)
            for story in stories.values()
            for increment in story.increments
            if increment.windows
        ]

    with counter(cluster) as process:
        await_true(lambda: windows_counted() == [(0, 1), (2, 3)], "what is before and behind the batch is counted")
        peak = int(Path(f"/proc/{process.pid}/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
    assert peak < 3 * UNPACKED_BYTES_MAX


def test_a_group_that_goes_back_is_told_as_one_that_reads_again_and_says_how_old_its_records_were(cluster, start_ms):
    make_topic(cluster, "again")
    producer = AuditedProducer(config(cluster), "test")
    produce(producer, "again", start_ms, [0])
    producer.close()
    with audited_group(cluster, "again") as consumer:
        consume(consumer, A_WINDOW)
        consumer.commit()
        consumer.consumer.seek(TopicPartition("again", 0, 5))
        consume(consumer, A_WINDOW // 2 - 5)
        consumer.commit()
    stories = ledger_of(cluster.bootstrap_servers).of("again", AuditTier.CONSUMED)
    counted = {chain.partition: (story.tally(start_ms), story.repeated) for chain, story in stories.items()}
    assert counted[0][1] == A_WINDOW // 2 - 5
    assert counted[1][1] == 0
    assert not any(tally.disordered for tally, _ in counted.values())
    latency = merged(increment.latencies[start_ms] for story in stories.values() for increment in story.increments)
    assert 20 * 60_000 <= latency.most_ms < 30 * 60_000
    assert latency.percentile(0.5) == pytest.approx(latency.most_ms, rel=0.1)
