"""Clients of Connect's REST that are not ours: two libraries and a command line, each by all that it has."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from kafka_connect import KafkaConnect
from kafka_connect_api.errors import GenericNotFound
from kafka_connect_api.kafka_connect_api import Api, Cluster, Connector
from requests.exceptions import HTTPError

from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import all_records
from tests.broker.connect.workers import start_worker

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.fixture(scope="module")
def worker(cluster, tmp_path_factory):
    """Distributed: a standalone worker's connectors are made by its files, too."""
    directory = tmp_path_factory.mktemp("other-clients")
    own = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "other-clients"}
    own |= {f"{name}.storage.topic": f"other-clients-{name}" for name in ("config", "offset", "status")}
    own |= {f"{name}.storage.replication.factor": "1" for name in ("config", "offset", "status")}
    own |= {"key.converter": "StringConverter", "value.converter": "StringConverter"}
    own |= {"connector.file.roots": str(directory)}
    started = start_worker(directory, "distributed", own)
    try:
        await_true(started.answers, "REST answers", 60)
        yield started
    finally:
        assert started.stop() == 0


@pytest.fixture
def lines(worker, tmp_path) -> Path:
    path = worker.log.parent / f"{tmp_path.name}.txt"
    path.write_text("one\ntwo\n")
    return path


def source(lines: Path, topic: str) -> dict[str, str]:
    return {"connector.class": SOURCE, "file": str(lines), "topic": topic, "tasks.max": "1"}


def test_a_library_of_python_does_all_it_can(worker, cluster, lines):
    client = KafkaConnect(url=f"http://127.0.0.1:{worker.port}")
    assert set(client.get_cluster_info()) == {"version", "commit", "kafka_cluster_id"}
    assert SOURCE in [plugin["class"] for plugin in client.list_connector_plugins()]
    checked = client.validate_connector_config("FileStreamSourceConnector", {"connector.class": SOURCE})
    wrong = {config["value"]["name"] for config in checked["configs"] if config["value"]["errors"]}
    assert wrong == {"name", "topic"}
    assert checked["error_count"] == 2
    config = source(lines, "other-clients-library")
    made = client.create_connector({"name": "library", "config": config})
    assert made["config"] == config | {"name": "library"}
    with pytest.raises(HTTPError) as refused:
        client.create_connector({"name": "library", "config": config})
    assert refused.value.response.status_code == 409
    await_true(lambda: worker.is_running("library"), "it runs")
    await_true(lambda: len(all_records(cluster.bootstrap_servers, config["topic"])) == 2, "it has read")
    assert client.get_connector_config("library") == config | {"name": "library"}
    assert client.get_connector("library")["tasks"] == [{"connector": "library", "task": 0}]
    assert client.list_connectors(expand="info", pattern="lib")["library"]["info"]["type"] == "source"
    assert client.list_connectors(state="running") == ["library"]
    assert client.list_connector_topics("library") == {"library": {"topics": [config["topic"]]}}
    client.reset_connector_topics("library")
    await_true(lambda: client.list_connector_topics("library") == {"library": {"topics": []}}, "none is remembered")
    assert client.list_connector_tasks("library")[0]["id"] == {"connector": "library", "task": 0}
    client.pause_all_connectors(pattern="lib")
    await_true(lambda: client.get_connector_status("library")["connector"]["state"] == "PAUSED", "paused")
    client.resume_connector("library")
    await_true(lambda: client.get_connector_task_status("library", 0)["state"] == "RUNNING", "resumed")
    before = worker.restarted()
    client.restart_connector_task("library", 0)
    await_true(lambda: worker.restarted() == before + 1, "the task was started again")
    client.restart_connector("library", include_tasks=True, only_failed=False)
    await_true(lambda: worker.restarted() == before + 3, "the connector and its task were")
    assert client.update_connector("library", config | {"tasks.max": "2"})["config"]["tasks.max"] == "2"
    client.delete_connector("library")
    assert "library" not in client.list_connectors()


@pytest.mark.long
def test_a_command_line_does_the_same(worker, cluster, lines, tmp_path):
    def kc(*arguments: str) -> str:
        command = [str(Path(sys.executable).with_name("kc")), "--url", f"http://127.0.0.1:{worker.port}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    config = source(lines, "other-clients-command") | {"name": "command"}
    file = tmp_path / "connector.json"
    file.write_text(json.dumps({"name": "command", "config": config}))
    kc("create", "--config-file", str(file))
    await_true(lambda: worker.is_running("command"), "it runs")
    assert json.loads(kc("config", "command")) == config
    assert "command" in kc("list")
    assert json.loads(kc("status", "command"))["connector"]["state"] == "RUNNING"
    kc("pause", "command")
    await_true(lambda: worker.state("command") == "PAUSED", "paused")
    kc("resume", "command")
    kc("restart", "command", "--include-tasks")
    await_true(lambda: worker.is_running("command"), "it runs again")
    assert SOURCE in kc("list-plugins")
    kc("delete", "command")
    assert "command" not in kc("list")


@pytest.mark.long
def test_another_library_does_all_it_can(worker, cluster, lines):
    connect = Cluster(Api(hostname="127.0.0.1", port=worker.port))
    assert connect.version
    assert connect.kafka_cluster
    assert "another" not in connect.connectors
    connector = Connector(connect, "another")
    with pytest.raises(GenericNotFound):
        _ = connector.config
    config = source(lines, "other-clients-another")
    connector.config = config
    await_true(lambda: worker.is_running("another"), "it runs")
    assert "another" in connect.connectors
    assert connector.exists()
    assert connector.connector_class == SOURCE
    assert connector.config == config | {"name": "another"}
    (task,) = connector.tasks
    assert task.is_running()
    assert task.config["file"] == str(lines)
    connector.pause()
    await_true(lambda: connector.state == "PAUSED", "paused")
    before = worker.restarted()
    connector.restart()
    connector.cycle_connector()
    await_true(lambda: connector.state == "RUNNING" and task.state == "RUNNING", "it runs again")
    assert worker.restarted() > before
    connect.root_logger = "DEBUG"
    assert connect.root_logger["level"] == "DEBUG"
    connect.root_logger = "INFO"
    connector.delete()
    assert "another" not in connect.connectors
