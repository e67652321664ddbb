"""`kafka-run-class`, and the offset checker that documents start with it."""

import asyncio

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from broker.zookeeper.session import ZooKeeperSession
from tests.typed import typed, typed_in_shell

CHECKER = "kafka.tools.ConsumerOffsetChecker"
HEAD = ["Group", "Topic", "Pid", "Offset", "logSize", "Lag", "Owner"]


@pytest.fixture
def topic(cluster, name):
    """One partition with ten records, of which a group of the same name has read four."""
    servers = {"bootstrap.servers": cluster.bootstrap_servers}
    typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, "--create", "--topic", name)
    producer = Producer(servers)
    for at in range(10):
        producer.produce(name, str(at))
    assert producer.flush(20) == 0
    consumer = Consumer({**servers, "group.id": name})
    consumer.commit(offsets=[TopicPartition(name, 0, 4)], asynchronous=False)
    consumer.close()
    return name


def test_the_checker_of_the_documents_tells_how_far_a_group_has_read(cluster, topic):
    zookeeper = cluster.brokers[0].zookeeper_connect
    status, out, err = typed_in_shell("kafka-run-class.sh", CHECKER, "--zookeeper", zookeeper, "–group", topic)
    assert (status, [line.split() for line in out.splitlines()]) == (
        0,
        [HEAD, [topic, topic, "0", "4", "10", "6", "none"]],
    )
    assert err.startswith("kafka-consumer-offset-checker: –group is typed with a long dash; it is taken for --group.\n")
    with_brokers = typed("kafka-run-class", CHECKER, "--zookeeper", zookeeper, "--group", topic, "--broker-info").out
    first = cluster.brokers[0]
    assert f"BROKER INFO\n1 -> {first.host}:{first.port}\n" in with_brokers


def test_offsets_that_an_old_consumer_left_in_zookeeper_are_told(cluster, topic):
    zookeeper, old = cluster.brokers[0].zookeeper_connect, f"{topic}-old"
    asyncio.run(
        _leave(zookeeper, {f"/consumers/{old}/offsets/{topic}/0": b"7", f"/consumers/{old}/owners/{topic}/0": b"h-0"})
    )
    checked = typed("kafka-consumer-offset-checker", "--zookeeper", zookeeper, "--group", old)
    assert [line.split() for line in checked.out.splitlines()] == [HEAD, [old, topic, "0", "7", "10", "3", "h-0"]]


async def _leave(connect, znodes):
    session = ZooKeeperSession(connect, 6000)
    await session.connect(20_000)
    for path, data in znodes.items():
        await session.ensure(path)
        await session.set(path, data)
    await session.close()


def test_a_group_that_nobody_knows_ends_the_checker_quietly(cluster, name):
    zookeeper = ("--zookeeper", cluster.brokers[0].zookeeper_connect)
    no_text = typed("kafka-consumer-offset-checker", *zookeeper, "--group", "g\udcff")
    assert (no_text.status, no_text.out.count("\n"), "Traceback" in no_text.err) == (0, 1, False)
    words = (*zookeeper, "--group", name)
    status, out, _ = typed("kafka-consumer-offset-checker", *words)
    assert (status, out) == (
        0,
        "Exiting due to: org.apache.zookeeper.KeeperException$NoNodeException: KeeperErrorCode = NoNode for "
        f"/consumers/{name}/owners.\n",
    )


def test_a_class_gets_the_words_behind_its_name(cluster, topic):
    old = typed(
        "kafka-run-class", "-name", "offsets", "-loggc", "kafka.tools.GetOffsetShell",
        "--broker-list", cluster.bootstrap_servers, "--topic", topic, "--time", "-2",
    )  # fmt: skip
    assert old == (0, f"{topic}:0:0\n", "")
    assert typed("kafka-run-class", "kafka.admin.TopicCommand", "--help").err.startswith("Create, delete, describe")


def test_what_is_no_class_is_refused_as_java_does_it():
    assert typed("kafka-run-class", "kafka.tools.Nonsense") == (
        1,
        "",
        "Error: Could not find or load main class kafka.tools.Nonsense\n"
        "Caused by: java.lang.ClassNotFoundException: kafka.tools.Nonsense\n",
    )
    usage = "USAGE: kafka-run-class [-daemon] [-name servicename] [-loggc] classname [opts]\n"
    assert typed("kafka-run-class") == (1, usage, "")
    jmx = typed("kafka-run-class", "kafka.tools.JmxTool", "--object-name", "x")
    assert (jmx.status, jmx.out, jmx.err.count("\n")) == (1, "", 1)
    assert typed("kafka-run-class", "-daemon", "kafka.tools.GetOffsetShell").status == 1
