"""A probe beside three real brokers: each trouble is named, on the right broker and on no other, and passes again."""

import signal
import threading

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.probe.running import running_probe

#: By its own clock a probe notices within so long.
NOTICED_MS = 5_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    overrides = {"min.insync.replicas": "2", "default.replication.factor": "3"}
    directory = tmp_path_factory.mktemp("probed")
    with running_cluster(directory, brokers=3, overrides=overrides, zookeeper=zookeeper) as running:
        yield running


@pytest.fixture(scope="module")
def probe(cluster, tmp_path_factory):
    directory = tmp_path_factory.mktemp("probe")
    with running_probe(directory, cluster.bootstrap_servers) as running:
        running.await_reading(brokers=3)
        yield running


def assert_blamed(probe, broker_id):
    """In time, and its partition is led by another afterwards."""
    await_true(lambda: broker_id in probe.blamed(), f"broker {broker_id} is blamed")
    assert probe.blamed()[broker_id]["noticed_after_ms"] <= NOTICED_MS
    await_true(lambda: probe.leads()[broker_id] == 0, f"broker {broker_id} leads nothing")


def assert_well_again(probe, blamed):
    """And nobody was blamed meanwhile but `blamed`."""
    await_true(lambda: not probe.blamed(), "nobody is blamed")
    probe.await_reading(brokers=3)
    await_true(lambda: not probe.status()["troubled"], "no partition is in trouble")
    assert [probe.total(name) for name in ("lost", "duplicated", "reordered")] == [0, 0, 0]
    assert set(probe.ever_blamed()) == blamed


def test_every_broker_leads_a_partition_and_nothing_is_wrong_with_any(probe):
    assert sorted(probe.leads().values()) == [1, 1, 1]
    assert probe.blamed() == {}
    assert probe.total("lost") == 0
    assert 'barnabas_probe_written_total{broker="1",mirror="",partition=""}' in probe.get("/metrics")
    assert probe.get("/healthz") == "ok\n"


def test_a_killed_broker_is_named_and_no_other_and_is_well_when_it_is_back(cluster, probe):
    broker = cluster.brokers[1]
    before = set(probe.ever_blamed())
    broker.kill()
    assert_blamed(probe, broker.broker_id)
    broker.start()
    broker.await_healthy()
    assert_well_again(probe, before | {broker.broker_id})


def test_a_suspended_broker_is_named_and_not_those_that_wait_for_it(cluster, probe):
    broker = cluster.brokers[2]
    before = set(probe.ever_blamed())
    broker.process.send_signal(signal.SIGSTOP)
    try:
        assert_blamed(probe, broker.broker_id)
    finally:
        broker.process.send_signal(signal.SIGCONT)
    assert_well_again(probe, before | {broker.broker_id})


def test_a_probe_that_starts_again_calls_no_record_of_before_lost(cluster, probe, tmp_path):
    with running_probe(tmp_path, cluster.bootstrap_servers) as other:
        other.await_reading(brokers=3)
        assert other.status()["run"] != probe.status()["run"]
        assert [other.total(name) for name in ("lost", "duplicated", "reordered")] == [0, 0, 0]
        assert other.stop() == 0


def test_a_topic_that_is_on_one_broker_is_spread_over_all_with_replicas(cluster, tmp_path):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("narrow", 1, replica_assignment=[[2]])])["narrow"].result(20)
    with running_probe(tmp_path, cluster.bootstrap_servers, topic="narrow") as other:
        other.await_reading(brokers=3)

        def replicas() -> list[int]:
            return [len(status["replicas"]) for status in other.status()["partitions"].values()]

        await_true(lambda: replicas() == [3, 3, 3], "three partitions have three replicas each")
        assert other.total("lost") == 0


@pytest.fixture
def mirrored(cluster):
    """A topic into which every record of the probe's topic is copied, partition by partition."""
    servers = {"bootstrap.servers": cluster.bootstrap_servers}
    admin = AdminClient(servers)
    admin.create_topics([NewTopic("west.probe", 3, 3)])["west.probe"].result(20)
    stop = threading.Event()

    def copy():
        reader, writer = Consumer(servers | {"group.id": "mirror"}), Producer(servers)
        reader.subscribe(["barnabas.probe"])
        while not stop.is_set():
            message = reader.poll(0.1)
            if message is not None and message.error() is None:
                writer.produce("west.probe", message.value(), partition=message.partition())
                writer.poll(0)
        writer.flush(10)
        reader.close()

    thread = threading.Thread(target=copy)
    thread.start()
    yield "west.probe"
    stop.set()
    thread.join()


def test_a_mirror_is_measured_to_its_far_end(cluster, probe, mirrored, tmp_path):
    there = {"mirror.bootstrap.servers": cluster.bootstrap_servers, "mirror.topic": mirrored}
    with running_probe(tmp_path, cluster.bootstrap_servers, **there) as other:
        for part in ("mirror/0", "mirror/1", "mirror/2"):
            await_true(lambda part=part: other.total("read", part) > 1, f"{part} is read")
        assert [other.total(name, "mirror") for name in ("lost", "duplicated", "reordered")] == [0, 0, 0]
        assert other.status()["total"]["mirror"]["end_to_end"]
