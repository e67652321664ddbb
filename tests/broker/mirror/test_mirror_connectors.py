"""Kafka's mirror connectors on a real worker, between two real clusters."""

import struct
import uuid

import pytest
from confluent_kafka import Consumer, TopicPartition

from broker.audit.increment import AuditTier
from broker.audit.topic import ensure_topic
from tests.audit_ledger import ledger_of
from tests.barnabas_cluster import await_true
from tests.broker.connect.workers import start_worker

KAFKA = "org.apache.kafka.connect.mirror."


@pytest.fixture
def topic():
    return f"t-{uuid.uuid4().hex[:10]}"


@pytest.fixture(scope="module")
def worker(south, tmp_path_factory):
    storage = {f"{kind}.storage.topic": f"mirror-{kind}" for kind in ("config", "offset", "status")}
    copies = {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
    properties = {
        "bootstrap.servers": south.bootstrap, "group.id": "mirrors", "offset.storage.partitions": "1",
        "status.storage.partitions": "1", **storage, **copies,
    }  # fmt: skip
    worker = start_worker(tmp_path_factory.mktemp("worker"), "distributed", properties)
    await_true(worker.answers, "REST answers", 60)
    yield worker
    worker.stop()


@pytest.fixture
def start(worker, north, south):
    started = []

    def start(kind, **config):
        name = f"{kind}-{uuid.uuid4().hex[:8]}"
        body = {
            "connector.class": f"{KAFKA}Mirror{kind}Connector",
            "source.cluster.alias": "north",
            "target.cluster.alias": "south",
            "source.cluster.bootstrap.servers": north.bootstrap,
            "target.cluster.bootstrap.servers": south.bootstrap,
            "replication.factor": "1",
            "refresh.topics.interval.seconds": "1",
            **{key.replace("_", "."): value for key, value in config.items()},
        }
        await_true(lambda: "name" in worker.ask("PUT", f"/connectors/{name}/config", body), f"{name} configured", 60)
        started.append(name)
        return name

    yield start
    for name in started:
        worker.ask("DELETE", f"/connectors/{name}")


def settings_of(side, topic):
    from confluent_kafka.admin import ConfigResource

    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    return {name: entry.value for name, entry in side.admin.describe_configs([resource])[resource].result(20).items()}


def has(side, topic):
    return topic in side.admin.list_topics(timeout=10).topics


def test_a_topic_is_made_copied_and_followed_by_its_settings_and_partitions(north, south, worker, start, topic):
    north.create(topic, 2, retention_ms="123456789", min_insync_replicas="1")
    north.write(topic, [f"{number}" for number in range(30)], partition=1)
    start("Source", topics=f"{topic}.*", tasks_max="2", exactly_once_enabled="true")
    copy = f"north.{topic}"
    await_true(lambda: has(south, copy) and len(south.read(copy, 1)) == 30, "all is there", 60)
    assert settings_of(south, copy)["retention.ms"] == "123456789"
    later = f"{topic}-later"
    north.create(later)
    north.write(later, ["news"])
    await_true(lambda: has(south, f"north.{later}") and south.values(f"north.{later}") == [b"news"], "a new topic", 60)
    from confluent_kafka.admin import NewPartitions

    north.admin.create_partitions([NewPartitions(topic, 3)])[topic].result(20)
    await_true(lambda: len(south.admin.list_topics(timeout=10).topics[copy].partitions) == 3, "partitions follow", 60)
    north.write(topic, ["third"], partition=2)
    await_true(lambda: south.values(copy, 2) == [b"third"], "the new one is copied", 60)


def test_a_group_goes_on_in_the_other_cluster_behind_what_it_has_read(north, south, worker, start, topic):
    north.create(topic)
    north.write(topic, [f"{number}" for number in range(100)])
    group = f"g-{topic}"
    start("Source", topics=topic)
    start(
        "Checkpoint", groups=group, emit_checkpoints_interval_seconds="1", sync_group_offsets_enabled="true",
    )  # fmt: skip
    copy = f"north.{topic}"
    await_true(lambda: has(south, copy) and len(south.read(copy)) == 100, "all is there", 60)
    reader = Consumer({"bootstrap.servers": north.bootstrap, "group.id": group, "enable.auto.commit": False})
    reader.commit(offsets=[TopicPartition(topic, 0, 42)], asynchronous=False)
    reader.close()
    follower = Consumer({"bootstrap.servers": south.bootstrap, "group.id": group, "enable.auto.commit": False})
    await_true(lambda: follower.committed([TopicPartition(copy, 0)], timeout=10)[0].offset == 42, "it follows", 60)
    follower.close()
    (record,) = south.read("north.checkpoints.internal")[-1:]
    key = struct.pack(">h", len(group)) + group.encode() + struct.pack(">h", len(copy)) + copy.encode()
    assert record[1] == key + struct.pack(">i", 0)
    assert record[2] == struct.pack(">hqqh", 0, 42, 42, 0)


def test_positions_of_a_mirror_are_not_altered_or_reset_without_effect(north, worker, start, topic):
    north.create(topic)
    name = start("Source", topics=topic)
    await_true(lambda: worker.is_running(name), "it runs", 60)
    worker.ask("PUT", f"/connectors/{name}/stop")
    partition = {"cluster": "north", "topic": topic, "partition": 0}
    await_true(lambda: worker.ask("GET", f"/connectors/{name}/status").get("tasks") == [], "it is stopped", 60)
    for method, body in (("PATCH", {"offsets": [{"partition": partition, "offset": {"offset": 5}}]}), ("DELETE", None)):
        response = worker.ask(method, f"/connectors/{name}/offsets", body, status=500)
        assert "barnabas-mirror.internal" in response["message"]
    assert worker.ask("GET", f"/connectors/{name}/offsets") == {"offsets": []}


def test_beats_come_every_second(north, south, worker, start):
    start("Heartbeat")
    await_true(lambda: has(south, "heartbeats") and len(south.read("heartbeats")) >= 2, "beats", 60)
    assert south.read("heartbeats")[0][1] == b"\x00\x05north\x00\x05south"


def test_what_is_wrong_with_a_mirror_is_said_key_by_key(worker):
    body = {
        "connector.class": f"{KAFKA}MirrorSourceConnector", "name": "x", "source.cluster.alias": "a b",
        "target.cluster.alias": "south", "source.cluster.bootstrap.servers": "nowhere", "topics": "(",
        "replication.policy.class": "Other",
    }  # fmt: skip
    answer = worker.ask("PUT", "/connector-plugins/MirrorSourceConnector/config/validate", body, status=200)
    wrong = {config["value"]["name"] for config in answer["configs"] if config["value"]["errors"]}
    assert wrong >= {"source.cluster.alias", "target.cluster.bootstrap.servers", "topics", "replication.policy.class"}


def test_what_is_copied_is_told_to_the_audit_of_the_source(north, worker, start, topic):
    where = {"bootstrap.servers": north.bootstrap}
    ensure_topic(where)
    north.create(topic, 2)
    start("Source", topics=topic, audit_enable="true")
    north.write(topic, [f"{number}" for number in range(30)], partition=1)

    def counted():
        stories = ledger_of(where["bootstrap.servers"]).of(topic, AuditTier.MIRRORED)
        return {(chain.source, chain.partition): story.end for chain, story in stories.items()}

    await_true(lambda: counted().get(("north->south", 1)) == 30, "all is told", 60)
