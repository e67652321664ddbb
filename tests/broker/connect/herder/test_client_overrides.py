"""Overrides of clients on a real worker: refused at creation, and heeded where the worker makes topics."""

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records, mock_cluster
from tests.broker.connect.workers import start_worker

_TEXT = "org.apache.kafka.connect.storage.StringConverter"


@pytest.fixture
def worker_of(cluster, tmp_path):
    started = []

    def start(**more):
        own = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "offset.storage.file.filename": str(tmp_path / "offsets"),
            "key.converter": _TEXT,
            **more,
        }
        started.append(start_worker(tmp_path / "worker", "standalone", own))
        await_true(started[-1].answers, "REST answers")
        return started[-1]

    yield start
    for item in started:
        assert item.stop() == 0


def test_without_a_word_of_the_worker_nobody_logs_in_elsewhere(worker_of):
    worker = worker_of()
    config = {"name": "overridden", "connector.class": "FileStreamSource", "topic": "overridden"}
    wrong = {"producer.override.bootstrap.servers": "elsewhere:9092", "producer.override.linger.ms": "1"}
    body = worker.ask("PUT", "/connectors/overridden/config", config | wrong, status=400)
    assert "The 'Allowlist' policy does not allow 'bootstrap.servers' to be overridden" in body["message"]
    result = worker.ask("PUT", "/connector-plugins/FileStreamSource/config/validate", config | wrong, status=200)
    at_fault = {
        config["value"]["name"]: config["value"]["value"] for config in result["configs"] if config["value"]["errors"]
    }
    assert at_fault == {"producer.override.bootstrap.servers": "elsewhere:9092"}
    worker.ask("PUT", "/connectors/overridden/config", config | {"producer.override.linger.ms": "1"}, status=201)


def test_topics_are_made_by_the_client_that_the_connector_says(worker_of, cluster, tmp_path):
    """Asked elsewhere, where they are: none is made here but as brokers do by themselves."""
    worker = worker_of(**{"connector.client.config.override.policy": "All"})
    (tmp_path / "in.txt").write_text("foo\n")
    rules = {"topic.creation.default.partitions": "7", "topic.creation.default.replication.factor": "1"}
    source = {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), "topic": "by-admin"}
    letters = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": "letters-by-admin"}
    sink = {"connector.class": "FileStreamSink", "file": str(tmp_path / "out.txt"), "topics": "poisoned-for-admin"}
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce("poisoned-for-admin", b"poison")
    assert producer.flush(30) == 0
    with mock_cluster("by-admin", "letters-by-admin") as elsewhere:
        admin = {"admin.override.bootstrap.servers": elsewhere.bootstrap_servers}
        worker.ask("PUT", "/connectors/in/config", source | rules | admin, status=201)
        worker.ask("PUT", "/connectors/out/config", sink | letters | admin, status=201)
        client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        await_true(lambda: "by-admin" in client.list_topics(timeout=30).topics, "a topic")
        # Three copies, which this cluster cannot have, were not asked of it.
        await_true(lambda: "letters-by-admin" in client.list_topics(timeout=30).topics, "a topic of letters")
        await_true(lambda: all_records(cluster.bootstrap_servers, "letters-by-admin"), "a letter")
    assert len(client.list_topics("by-admin", timeout=30).topics["by-admin"].partitions) == 1
