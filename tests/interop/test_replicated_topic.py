"""Topics with three replicas on three brokers: losing brokers loses nothing that was acknowledged."""

import signal
import subprocess

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.replicas import isr_of, leader_of, log_bytes
from tests.interop.test_restart import stored

ALL = {1, 2, 3}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    quick = {"replica.lag.time.max.ms": "3000", "zookeeper.session.timeout.ms": "8000"}
    with running_cluster(
        tmp_path_factory.mktemp("replicated"), brokers=3, overrides=quick, zookeeper=zookeeper
    ) as running:
        yield running


@pytest.fixture
def whole(cluster):
    """The cluster with all brokers running, before and after."""
    yield cluster
    for broker in cluster.brokers:
        if broker.process.poll() is not None:
            broker.start()
        broker.await_healthy()
    for broker in cluster.brokers:
        await_known_whole(AdminClient({"bootstrap.servers": f"127.0.0.1:{broker.port}"}))


def await_known_whole(admin):
    await_true(lambda: len(admin.list_topics(timeout=10).brokers) == 3, "everybody knows of all brokers again")


def create(cluster, topic, **config):
    new = NewTopic(topic, num_partitions=1, replication_factor=3, config=config)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([new])[topic].result(20)
    await_true(lambda: isr_of(cluster, topic) == ALL, f"{topic} is in sync on all brokers")


def produce(cluster, topic, values, **config) -> list[str]:
    """Names of the errors met; none when all is acknowledged by all in-sync replicas."""
    errors = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all", "linger.ms": 1, **config})
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: error and errors.append(error.name()))
        producer.poll(0)
    assert producer.flush(60) == 0
    return errors


def kcat(cluster, *arguments, stdin=None) -> str:
    command = ["kcat", "-b", cluster.bootstrap_servers, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=True).stdout


def test_every_replica_holds_the_same_bytes_as_its_leader(whole):
    create(whole, "same")
    assert produce(whole, "same", (b"value-%d" % n for n in range(5_000))) == []
    await_true(lambda: len(set(log_bytes(whole, "same").values())) == 1, "all replicas hold the same bytes")
    assert len(log_bytes(whole, "same")) == 3


@pytest.mark.long
def test_the_walk_through_kill_the_leader_read_everything_and_restart_it(whole):
    create(whole, "my-replicated-topic")
    kcat(whole, "-P", "-t", "my-replicated-topic", "-X", "acks=all", stdin="my test message 1\nmy test message 2\n")
    dead = whole.broker(leader_of(whole, "my-replicated-topic"))
    dead.kill()
    await_true(lambda: leader_of(whole, "my-replicated-topic") in ALL - {dead.broker_id}, "another broker leads")
    await_true(lambda: isr_of(whole, "my-replicated-topic") == ALL - {dead.broker_id}, "the ISR has shrunk")
    leader = whole.broker(leader_of(whole, "my-replicated-topic"))
    assert "barnabas_broker_under_replicated_partitions 0.0" not in leader.get("/metrics")
    described = kcat(whole, "-L", "-t", "my-replicated-topic")
    assert f"leader {leader_of(whole, 'my-replicated-topic')}" in described
    read = kcat(whole, "-C", "-t", "my-replicated-topic", "-o", "beginning", "-e", "-q")
    assert read == "my test message 1\nmy test message 2\n"
    dead.start()
    dead.await_healthy()
    await_true(lambda: isr_of(whole, "my-replicated-topic") == ALL, "the ISR is full again")
    await_true(
        lambda: "barnabas_broker_under_replicated_partitions 0.0" in leader.get("/metrics"), "and the leader says so"
    )


def test_every_acknowledged_record_survives_two_dead_brokers(whole):
    create(whole, "survivor")
    values = [b"value-%d" % n for n in range(2_000)]
    assert produce(whole, "survivor", values[:1_000]) == []
    first = whole.broker(leader_of(whole, "survivor"))
    first.kill()
    assert produce(whole, "survivor", values[1_000:]) == []
    await_true(lambda: isr_of(whole, "survivor") == ALL - {first.broker_id}, "two are in sync")
    second = whole.broker(leader_of(whole, "survivor"))
    second.kill()
    await_true(lambda: leader_of(whole, "survivor") in ALL - {first.broker_id, second.broker_id}, "the last one leads")
    result = stored(whole, "survivor", 1, 2_000)
    assert [result[0, offset] for offset in range(2_000)] == values


def test_a_follower_that_stands_still_leaves_the_isr_and_joins_again(whole):
    create(whole, "still")
    follower = whole.broker(min(ALL - {leader_of(whole, "still")}))
    follower.process.send_signal(signal.SIGSTOP)
    try:
        assert produce(whole, "still", [b"waits until the follower is out"]) == []
        await_true(lambda: isr_of(whole, "still") == ALL - {follower.broker_id}, "the follower is out")
    finally:
        follower.process.send_signal(signal.SIGCONT)
    await_true(lambda: isr_of(whole, "still") == ALL, "the follower has caught up")
    await_true(lambda: len(set(log_bytes(whole, "still").values())) == 1, "all replicas hold the same bytes")


def test_deleted_records_are_those_that_no_living_replica_can_show_again(whole):
    create(whole, "forgotten")
    assert produce(whole, "forgotten", (b"value-%d" % n for n in range(50))) == []
    leader = whole.broker(leader_of(whole, "forgotten"))
    follower = whole.broker(min(ALL - {leader.broker_id}))
    admin, partition = (
        AdminClient({"bootstrap.servers": f"127.0.0.1:{leader.port}"}),
        TopicPartition("forgotten", 0, 20),
    )
    follower.process.send_signal(signal.SIGSTOP)
    try:
        answer = admin.delete_records([partition])[partition]
        await_true(lambda: first_offset(leader, "forgotten") == 20, "the leader has let go of them")
        assert not answer.done(), "a follower that stands still has them, and could be elected"
    finally:
        follower.process.send_signal(signal.SIGCONT)
    assert answer.result(30).low_watermark == 20
    leader.kill()
    await_true(lambda: leader_of(whole, "forgotten") in ALL - {leader.broker_id}, "another broker leads")
    assert first_offset(whole.broker(leader_of(whole, "forgotten")), "forgotten") == 20


def first_offset(broker, topic) -> int:
    reader = Consumer({"bootstrap.servers": f"127.0.0.1:{broker.port}", "group.id": "nobody"})
    low, _ = reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
    reader.close()
    return low


@pytest.mark.long
def test_too_few_in_sync_replicas_refuse_acks_all_and_nothing_else(whole):
    create(whole, "careful", **{"min.insync.replicas": "3"})
    dead = whole.broker(min(ALL - {leader_of(whole, "careful")}))
    dead.kill()
    await_true(lambda: isr_of(whole, "careful") == ALL - {dead.broker_id}, "the ISR has shrunk")
    assert produce(whole, "careful", [b"for one"], acks=1) == []
    assert produce(whole, "careful", [b"for all"], **{"message.timeout.ms": 3_000, "retries": 0}) == [
        KafkaError(KafkaError.NOT_ENOUGH_REPLICAS).name()
    ]


def test_more_replicas_than_brokers_are_refused_with_a_reason(whole):
    new = NewTopic("too-many", num_partitions=1, replication_factor=4)
    admin = AdminClient({"bootstrap.servers": whole.bootstrap_servers})
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([new])["too-many"].result(20)
    assert refused.value.args[0].code() == KafkaError.INVALID_REPLICATION_FACTOR
