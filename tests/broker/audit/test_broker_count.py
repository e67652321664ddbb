"""Brokers count what they append: each record once, whoever leads, however it ended; and what groups commit of it."""

import itertools
import threading
import time

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from broker.audit.hook import AuditedProducer
from broker.audit.increment import AUDIT_TOPIC, BROKER, AuditTier, Chain
from broker.audit.report import report_lines
from broker.audit.states import WindowState
from broker.audit.verdict import BROKERS, judge
from tests.audit_ledger import ledger_of
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.audit.made import MINUTE

PARTITIONS = 2
SETTINGS = {
    "barnabas.audit.interval.ms": "200",
    "barnabas.audit.enable": "true",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("counted"), 3, SETTINGS, zookeeper=zookeeper) as running:
        yield running


@pytest.fixture
def start_ms():
    """Windows that have been over for so long that nobody waits for them."""
    now_ms = time.time_ns() // 1_000_000
    return now_ms - now_ms % MINUTE - 20 * MINUTE


def config(cluster, **more):
    return {"bootstrap.servers": cluster.bootstrap_servers, **more}


def make_topic(cluster, name, **configs):
    admin = AdminClient(config(cluster))
    admin.create_topics([NewTopic(name, PARTITIONS, 3, config=configs)])[name].result(30)


class Load:
    """Produces in a thread of its own, to both partitions in turn, a window in 1,500 records. `acknowledged` by
    (partition, window).
    """

    def __init__(self, cluster, topic, start_ms, **settings):
        self._producer = Producer(config(cluster, **{"enable.idempotence": True, "linger.ms": 5, **settings}))
        self._topic, self._start_ms = topic, start_ms
        self._is_over = threading.Event()
        self.acknowledged, self.failed = {}, []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_error):
        self._is_over.set()
        self._thread.join()

    def _run(self):
        for number in itertools.count():
            if self._is_over.is_set():
                break
            at_ms = self._start_ms + number * 40
            window = at_ms - at_ms % MINUTE
            self._producer.produce(
                self._topic, b"%d" % number, partition=number % PARTITIONS, timestamp=at_ms,
                on_delivery=lambda error, message, window=window: self._delivered(error, message, window),
            )  # fmt: skip
            self._producer.poll(0.002)
        assert self._producer.flush(60) == 0

    def _delivered(self, error, message, window):
        if error is not None:
            self.failed.append(error)
            return
        key = message.partition(), window
        self.acknowledged[key] = self.acknowledged.get(key, 0) + 1

    @property
    def count(self):
        return sum(self.acknowledged.values())


def story(cluster, topic, partition):
    return ledger_of(cluster.bootstrap_servers).stories.get(Chain(AuditTier.APPENDED, BROKER, topic, partition))


def ends(cluster, topic):
    consumer = Consumer(config(cluster, **{"group.id": "ends"}))
    try:
        return [consumer.get_watermark_offsets(TopicPartition(topic, at), 30)[1] for at in range(PARTITIONS)]
    finally:
        consumer.close()


def await_told(cluster, topic):
    """All that is in the log is in the audit."""
    log_ends = ends(cluster, topic)

    def is_told():
        stories = [story(cluster, topic, at) for at in range(PARTITIONS)]
        return [increment.end if increment else 0 for increment in stories] == log_ends

    await_true(is_told, f"all of {topic} is told")


def check_counts(cluster, topic, acknowledged):
    """Ranges tile the log, and each record is counted once, in its window."""
    ledger = ledger_of(cluster.bootstrap_servers)
    log_ends = ends(cluster, topic)
    for partition in range(PARTITIONS):
        story = ledger.stories[Chain(AuditTier.APPENDED, BROKER, topic, partition)]
        assert (story.start, story.end, story.gaps, story.is_doubtful) == (0, log_ends[partition], [], False)
        assert all(one.end == next_.start for one, next_ in itertools.pairwise(story.increments))
        counted = {(partition, window): story.tally(window).count for window in story.windows()}
        assert counted == {key: count for key, count in acknowledged.items() if key[0] == partition}


def leader_of(cluster, topic, partition=0):
    return cluster.broker(
        AdminClient(config(cluster)).list_topics(topic, 30).topics[topic].partitions[partition].leader
    )


def end_brokers(cluster, topic, start_ms, *ends):
    """Each ends the broker that leads under load, which then comes back."""
    make_topic(cluster, topic)
    with Load(cluster, topic, start_ms) as load:
        for end in ends:
            before = load.count
            await_true(lambda before=before: load.count > before + 100, "records are acknowledged")
            broker = leader_of(cluster, topic)
            getattr(broker, end)()
            during = load.count
            await_true(lambda during=during: load.count > during + 100, "others lead")
            broker.start()
            broker.await_healthy()
    assert not load.failed
    await_told(cluster, topic)
    check_counts(cluster, topic, load.acknowledged)


def test_every_record_is_counted_once_when_a_leader_is_killed(cluster, start_ms):
    end_brokers(cluster, "killed", start_ms, "kill")


@pytest.mark.long
def test_every_record_is_counted_once_however_brokers_end(cluster, start_ms):
    end_brokers(cluster, "ended", start_ms, "kill", "stop", "kill", "stop")


def test_the_audit_s_own_topic_and_those_that_are_set_otherwise_are_not_counted(cluster, start_ms):
    make_topic(cluster, "silent", **{"barnabas.audit.enable": "false"})
    make_topic(cluster, "compacted", **{"cleanup.policy": "compact"})
    make_topic(cluster, "counted")
    producer = Producer(config(cluster))
    for topic in ("silent", "compacted", "counted"):
        producer.produce(topic, b"", b"k", partition=0, timestamp=start_ms)
    assert producer.flush(30) == 0
    await_true(lambda: story(cluster, "counted", 0), "one topic is counted")
    topics = {chain.topic for chain in ledger_of(cluster.bootstrap_servers).stories}
    assert topics.isdisjoint({"silent", "compacted", AUDIT_TOPIC, "__consumer_offsets"})


def test_batches_over_windows_and_transactions_are_counted_as_readers_of_committed_records_have_them(cluster, start_ms):
    make_topic(cluster, "mixed")
    producer = Producer(config(cluster, **{"linger.ms": 200, "compression.type": "zstd"}))
    for number in range(30):
        producer.produce("mixed", b"%d" % number, partition=0, timestamp=start_ms + number % 3 * MINUTE)
    assert producer.flush(30) == 0
    transactional = Producer(config(cluster, **{"transactional.id": "t"}))
    transactional.init_transactions(30)
    for end in (transactional.commit_transaction, transactional.abort_transaction, transactional.commit_transaction):
        transactional.begin_transaction()
        for number in range(10):
            transactional.produce("mixed", b"%d" % number, partition=0, timestamp=start_ms)
        transactional.flush(30)
        end(30)
    await_true(
        lambda: (story_told := story(cluster, "mixed", 0)) and story_told.end == ends(cluster, "mixed")[0],
        "all is told",
    )
    counted = story(cluster, "mixed", 0)
    assert {window: counted.tally(window).count for window in counted.windows()} == {
        start_ms: 30, start_ms + MINUTE: 10, start_ms + 2 * MINUTE: 10
    }  # fmt: skip


def consume(cluster, topic, group, count):
    settings = {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(config(cluster, **settings))
    starts = [TopicPartition(topic, at, 0) for at in range(PARTITIONS)]
    consumer.subscribe([topic])
    starts, end = [TopicPartition(topic, at, 0) for at in range(PARTITIONS)], time.monotonic() + 60
    try:
        while count > 0:
            assert time.monotonic() < end, f"{count} more records"
            message = consumer.poll(0.1)
            if starts and consumer.assignment():
                consumer.commit(offsets=starts, asynchronous=False)
                starts = []
            if message is not None and message.error() is None:
                consumer.commit(message, asynchronous=False)
                count -= 1
    finally:
        consumer.close()


def verdict(cluster, topic):
    return judge(ledger_of(cluster.bootstrap_servers), topic, time.time_ns() // 1_000_000)


def test_a_group_without_a_hook_has_a_column_and_a_reset_is_told(cluster, start_ms):
    make_topic(cluster, "grouped")
    producer = AuditedProducer(config(cluster), "test")
    for number in range(30):
        producer.produce("grouped", b"%d" % number, partition=number % PARTITIONS, timestamp=start_ms + number)
    producer.close()
    await_told(cluster, "grouped")
    consume(cluster, "grouped", "billing", 30)

    def cells():
        return [{name: tally.count for name, tally in row.tiers.items()} for row in verdict(cluster, "grouped").rows]

    wanted = {"produced": 30, BROKERS: 30, "committed billing": 30}
    await_true(lambda: cells() == [wanted], "the group has gone over all")
    assert [row.state for row in verdict(cluster, "grouped").rows] == [WindowState.COMPLETE]
    admin = AdminClient(config(cluster))
    for number in range(10):
        producer = Producer(config(cluster))
        producer.produce("grouped", b"%d" % number, partition=0, timestamp=start_ms + MINUTE)
        assert producer.flush(30) == 0
    for offset in (5, 25):
        request = ConsumerGroupTopicPartitions("billing", [TopicPartition("grouped", 0, offset)])
        admin.alter_consumer_group_offsets([request])["billing"].result(30)
    await_true(lambda: len(verdict(cluster, "grouped").moves) == 2, "both resets are told")
    result = verdict(cluster, "grouped")
    assert [row.state for row in result.rows] == [WindowState.COMPLETE, WindowState.SKIPPED]
    assert result.rows[1].tiers["committed billing"].count == 0
    back, forward = (line for line in report_lines(result, 20) if line.startswith("~"))
    assert "group billing went back over partition 0, offsets 5 to 14" in back
    assert "group billing was set forward, by a client that is no member, past partition 0, offsets 15 to 24" in forward
